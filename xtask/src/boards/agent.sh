echo '{"type":"system","subtype":"init","session_id":"s-'$$'"}'
over() {
  echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"total_cost_usd":'${COST:-0.02}',"usage":{"input_tokens":'${TOKENS:-9000}',"output_tokens":800}}'
}
finish() { "$PUNCH" done "$id" --evidence "all tests pass" > /dev/null 2>&1; over; }
while read -r line; do
  case $line in
    *"IDs: "*) rest=${line#*IDs: }; id=${rest%%\\n*} ;;
  esac
  echo '{"type":"assistant","message":{"content":[{"type":"text","text":"'"${SAY:-Working on $id}"'"}]}}'
  case $line in
    *ask*)
      echo '{"type":"control_request","request_id":"r-'$$'","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"'"${COMMAND:-sqlx migrate run --database-url sqlite:dev.db}"'"}}}'
      read -r answer
      printf '%s\n' "$answer" >> "$TRACES/answers"
      finish ;;
    *"(wait)"*)
      echo "$id" >> "$TRACES/started"
      while [ ! -e "$TRACES/go" ]; do sleep 0.05; done
      finish ;;
    *)
      case " $QUICK " in
        *" $id "*) sleep 1 ;;
        *) sleep "${WORK:-0.3}" ;;
      esac
      finish ;;
  esac
done
