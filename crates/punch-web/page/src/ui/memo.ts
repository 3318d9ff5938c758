// A component that is drawn again only if one of its properties is another value.
import { Component, type ComponentChild, type FunctionComponent, h } from "preact";

export function memo<P extends object>(view: FunctionComponent<P>): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const [before, after] = [this.props as Record<string, unknown>, next as Record<string, unknown>];
      const names = new Set([...Object.keys(before), ...Object.keys(after)]);
      return [...names].some((name) => name !== "children" && !Object.is(before[name], after[name]));
    }

    override render(props: P): ComponentChild {
      return h(view, props);
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}
