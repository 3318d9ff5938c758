// Reads server-sent events from a stream of text. `EventSource` cannot send a bearer token, so the page reads them itself.

export interface ServerEvent {
  event: string;
  data: string;
  /** The id of the last event that had one. */
  id: string;
}

/** Takes pieces of a stream, cut anywhere, and gives whole events. */
export class EventParser {
  private rest = "";
  private data: string[] = [];
  private event = "";
  private id = "";
  private started = false;
  /** The last piece ended in a carriage return: a line feed that follows belongs to it. */
  private afterReturn = false;

  push(piece: string): ServerEvent[] {
    let text = piece;
    if (!this.started && text !== "") {
      this.started = true;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (this.afterReturn && text !== "") {
      this.afterReturn = false;
      if (text[0] === "\n") text = text.slice(1);
    }
    this.afterReturn = text.endsWith("\r");
    const lines = (this.rest + text).split(/\r\n|\n|\r/);
    this.rest = lines.pop() ?? "";
    const events: ServerEvent[] = [];
    for (const line of lines) {
      if (line === "") {
        if (this.data.length > 0) {
          events.push({ event: this.event || "message", data: this.data.join("\n"), id: this.id });
        }
        this.data = [];
        this.event = "";
      } else {
        this.field(line);
      }
    }
    return events;
  }

  private field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (name === "data") this.data.push(value);
    else if (name === "event") this.event = value;
    else if (name === "id" && !value.includes("\0")) this.id = value;
  }
}
