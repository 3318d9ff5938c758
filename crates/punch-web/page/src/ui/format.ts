// Numbers, times and amounts as people read them.

/** The time between two moments, short: `12s`, `4m`, `1h 12m`, `3d`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours}h` : `${hours}h ${minutes % 60}m`;
  return `${Math.floor(hours / 24)}d`;
}

/** How long ago something was. Minutes are the finest: a second that changes tells nothing. */
export function age(ms: number): string {
  return ms < 60_000 ? "now" : span(ms);
}

/** Tokens and other large counts: `950`, `96k`, `1.9M`. */
export function count(n: number): string {
  if (n < 1_000) return String(n);
  if (n < 999_500) return `${trim(n / 1_000, n < 9_950 ? 1 : 0)}k`;
  return `${trim(n / 1_000_000, n < 99_500_000 ? 1 : 0)}M`;
}

function trim(n: number, digits: number): string {
  return n.toFixed(digits).replace(/\.0$/, "");
}

export function dollars(amount: number): string {
  return `$${amount.toFixed(2)}`;
}

export function bytes(n: number): string {
  return n < 1024 ? `${n} B` : n < 1024 * 1024 ? `${trim(n / 1024, 0)} KB` : `${trim(n / 1024 / 1024, 1)} MB`;
}

const pad = (n: number): string => String(n).padStart(2, "0");

/** Hours and minutes today, with the day before today. */
export function clock(at: number, now: number): string {
  const [date, today] = [new Date(at), new Date(now)];
  const time = `${pad(date.getHours())}:${pad(date.getMinutes())}`;
  if (date.toDateString() === today.toDateString()) return time;
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return date.getFullYear() === today.getFullYear() ? `${day.slice(5)} ${time}` : day;
}

export function fullTime(at: number): string {
  return new Date(at).toLocaleString();
}

/** `1 todo`, `3 todos`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

export function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.min(100, Math.round((100 * part) / whole));
}
