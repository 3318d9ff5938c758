// Answers of the API, as far as the page reads them. `docs/serve.md` and `/api/v1/openapi.json` describe all of it.

export interface Row {
  uid: number;
  id: string;
  status: string;
  text: string;
  position: number;
  updated: number;
  phase?: number;
  priority?: number;
  labels?: string[];
  owner?: string;
  since?: number;
  until?: number;
  badges?: string[];
  notes?: number;
  why?: string[];
  needs?: string[];
  dependents?: number;
  tokens?: number;
  finished?: number;
}

export interface Phase {
  uid: number;
  name: string;
}

export interface Progress {
  completed: number;
  total: number;
  percent: number;
}

export interface InboxItem {
  kind: string;
  todo?: string | null;
  text: string;
  since: number;
  blocks: number;
  action: string;
  question?: number;
}

export interface QuestionOption {
  id: string;
  label: string;
  allows: boolean;
}

export interface Question {
  id: number;
  state: string;
  askedAt: number;
  todo: string | null;
  uid: number | null;
  agent: string;
  run: number | null;
  seat: number | null;
  text: string;
  cut: boolean;
  options: QuestionOption[];
  answerable: boolean;
  answer: null | { answer: string; by: string; via: string; at: number; reason: string | null };
}

export interface Sum {
  tokens: number;
  estimated: number;
  cost: number;
  uncosted: number;
  ms: number;
  turns: number;
}

export interface Seat {
  seat: number;
  agent: string;
  stage: string;
  wanted: string;
  todo: string | null;
  since: number;
  lastSign: number | null;
  tokens: number;
  cost: number;
  line: string;
}

export interface RunState {
  number: number;
  startedAt: number;
  endedAt: number | null;
  running: boolean;
  outcome: string;
  wanted: string;
  spent: Sum;
  limits: { tokens: number | null; cost: number | null; time: number | null };
  seats: Seat[];
}

export interface AgentSession {
  session: string;
  agent: string;
  continuation: number;
  of: number;
  switch: string;
  decision: string;
  decidedAt: number | null;
}

/** What every page shows of the workers on all machines. */
export interface FleetInShort {
  working: number;
  draining: number;
  lost: number;
  seats: number;
  busy: number;
  stuck: number;
  warnings: string[];
}

export interface FleetClaim {
  plan: string;
  todo: string;
  text: string;
  worker: string;
  since: number | null;
  reported: boolean;
}

export interface FleetWorker {
  name: string;
  host: string;
  state: "working" | "draining" | "lost" | "gone";
  seenAt: number;
  seats: number;
  labels: string[];
  claims: FleetClaim[];
  perHour: number;
}

export interface FleetAnswer {
  workers: FleetWorker[];
  stuck: FleetClaim[];
}

export interface HistoryEntry {
  revision: number;
  at: number;
  by: string;
  changes: string;
  undoes?: number | null;
  undoneBy?: number | null;
  detail?: string[];
}

export interface Rights {
  write: boolean;
  answer: boolean;
}

export interface BoardAnswer {
  plan: string;
  revision: number;
  now: number;
  rows: Row[];
  phases: Phase[];
  counts: Record<string, number>;
  progress: Progress;
  inbox: InboxItem[];
  questions: Question[];
  run: RunState | null;
  sessions: AgentSession[];
  fleet: FleetInShort | null;
  seen: number;
  unseen: HistoryEntry[];
  quietAfter: number;
  failedWrite: string | null;
  can: Rights;
}

export interface PlanInfo {
  name: string;
  revision: number;
  default: boolean;
  archived: number | null;
  progress: Progress;
}

export interface ServerInfo {
  server: string;
  project: string | null;
  plan: string | null;
  agents: string[];
  role: string;
  name: string | null;
  can: Rights;
}

export interface ChangeEvent {
  from: number;
  revision: number;
  now: number;
  history: HistoryEntry[];
  rows: Row[];
  gone: number[];
  phases?: Phase[];
  counts: Record<string, number>;
  progress: Progress;
  inbox?: InboxItem[];
}

export interface ActivityEvent {
  now: number;
  run: RunState | null;
  sessions: AgentSession[];
  fleet: FleetInShort | null;
  inbox: InboxItem[];
  questions: Question[];
  seen: number;
  failedWrite: string | null;
}

export type Op = { op: string } & Record<string, unknown>;

export interface WriteAnswer {
  revision: number;
  rows: Row[];
  gone: number[];
  added: string[];
  unblocked: string[];
  warnings: string[];
  undid: number | null;
}

export type Inline =
  | { type: "text" | "code"; text: string }
  | { type: "em" | "strong" | "del"; text: Inline[] }
  | { type: "link"; href: string; text: Inline[] }
  | { type: "break" };

export type Block =
  | { type: "paragraph"; text: Inline[] }
  | { type: "heading"; level: number; text: Inline[] }
  | { type: "code"; lang?: string; code: string }
  | { type: "quote"; blocks: Block[] }
  | { type: "list"; start?: number; items: { done?: boolean; blocks: Block[] }[] }
  | { type: "rule" }
  | { type: "table"; head: Inline[][]; rows: Inline[][][] };

export interface Evidence {
  text?: string;
  command?: string;
  exitCode?: number;
  commit?: string;
  at?: number;
}

export interface TodoRecord {
  id: string;
  content: string;
  activeForm?: string;
  status: string;
  phase?: string;
  priority?: number;
  effectivePriority?: number;
  labels?: string[];
  dependsOn?: string[];
  blocks?: string[];
  description?: string;
  hold?: { kind: string; reason: string; by?: string; at?: number; until?: number | null };
  complexity?: string;
  estimatedTokens?: number;
  actualTokens?: number;
  verificationCriteria?: string;
  verifyCommand?: string | string[];
  files?: string[];
  evidence?: Evidence[];
  notes?: { text: string; by?: string; at?: number }[];
  owner?: string;
  leaseUntil?: number;
  attempts?: number;
  lastError?: string;
  createdAt?: number;
  updatedAt?: number;
  startedAt?: number;
  finishedAt?: number;
  lastCheck?: { passed: boolean; exitCode?: number | null; command?: string; commit?: string; at?: number };
}

export interface Attempt {
  attempt: number;
  agent?: string;
  run?: number | null;
  tokens: number;
  cost?: number | null;
  ms: number;
  at: number;
}

export interface TodoAnswer {
  revision: number;
  row: Row;
  todo: TodoRecord;
  markdown: { description: Block[]; criteria: Block[]; notes: Block[][] };
  check: null | { command: string; approved: boolean; approve: string };
  attempts: Attempt[];
  lane: null | { path: string; size: string };
  hasLog: boolean;
  informed: { session: string; agent: string; at: number | null }[];
}

export interface WhyAnswer {
  text: string;
  unblocks: string[];
  totals: { waitsFor: number; roots: number; unblocks: number; waiting: number; conflicts: number };
}

export interface GraphNode {
  uid: number;
  id: string;
  status: string;
  text: string;
  layer: number;
  order: number;
  critical?: boolean;
}

export interface GraphEdge {
  from?: number;
  to: number;
  kind: string;
  needs?: string;
}

export interface GraphAnswer {
  revision: number;
  nodes: GraphNode[];
  edges: GraphEdge[];
  total: number;
  cut: boolean;
  layers: { layer: number; count: number }[];
}

export interface ScheduleAnswer {
  revision: number;
  agents: number;
  makespan: number;
  slots: { todo: string; agent: number; start: number; end: number }[];
  blocked: { id: string; why: string }[];
}

export interface RunSummary {
  number: number;
  startedAt: number;
  endedAt: number | null;
  outcome: string;
  spent: Sum;
  running: boolean;
}

export interface LedgerEntry {
  todo: string;
  attempt: number;
  agent: string;
  tokens: number;
  cost: number | null;
  ms: number;
  turns: number;
  estimated?: boolean | number | null;
  at: number;
}

export interface RunBar {
  seat: number;
  todo: string;
  start: number;
  end: number | null;
  outcome: string | null;
  attempt: number;
}

export interface RunAnswer {
  revision: number;
  run: RunState;
  agents: string[];
  because: string[];
  earlier: number;
  steps: { at: number; text: string }[];
  todos: { id: string; spent: Sum; attempts: number; estimated: number | null }[];
  ledger: LedgerEntry[];
  bars: RunBar[];
}

export interface PastPlan {
  revision: number;
  at: number;
  rows: Row[];
  phases: Phase[];
  progress: Progress;
}
