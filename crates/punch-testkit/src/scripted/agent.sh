#!/bin/sh
# An agent for `exec:` that plays what the first word of its todo says. Its traces go to the folder $TRACES:
# `begun` and `done` get a line with the id whenever work on a todo begins and is done, `order` gets both.
read -r first
id=${first##*IDs: }
content=
while read -r line; do
  case $line in
    "<todo id="*) read -r content ;;
    "<failure>") read -r failure ;;
  esac
done
word=${content%% *}
rest=${content#"$word"}
rest=${rest# }
echo "$id" >> "$TRACES/begun"
echo "begin $id" >> "$TRACES/order"
finish() { echo "$id" >> "$TRACES/done"; echo "end $id" >> "$TRACES/order"; exit 0; }
case $word in
  work) echo "working on $id"; : > "made-$id"; finish ;;
  slow) echo "working on $id"; sleep "${rest%% *}"; : > "made-$id"; finish ;;
  # Only the second attempt does it, and only because it was told what went wrong.
  learn) if [ -n "$failure" ]; then : > "made-$id"; fi; finish ;;
  nothing) exit 0 ;;
  garbage) head -c 300000 /dev/urandom; printf '\033[2J\033]0;title\007'; exit 3 ;;
  flood) yes "flood of $id" | head -c 30000000; finish ;;
  endless) yes "no end in sight" ;;
  hang) exec sleep 1000 ;;
  deaf) trap '' TERM INT HUP; while :; do sleep 1; done ;;
  fork) setsid sh -c 'trap "" TERM HUP; echo $$ > "$TRACES/forked"; exec sleep 1000' > /dev/null 2>&1 &
    while [ ! -s "$TRACES/forked" ]; do sleep 0.01; done; finish ;;
  crash) kill -KILL $$ ;;
  refuse) echo "I cannot do this" >&2; exit 7 ;;
  say) punch=${PUNCH:-punch}; "$punch" done "$id" --evidence "said by the agent" > "$TRACES/said" 2>&1; sleep 1000 ;;
  remove) "${PUNCH:-punch}" rm "$rest" > /dev/null; finish ;;
  *) finish ;;
esac
