export {
  type AgentClient,
  type ClientOptions,
  createClient,
  type Decided,
  type Listed,
  type Page,
  type Waiting,
} from './client/client.ts'
export type { Answer, ClientEvent, ClientRun, Pending } from './client/events.ts'
export { ClientError } from './client/http.ts'
export type { OutputSchema } from './client/output.ts'
export type {
  AskOptions,
  ClientInput,
  ClientSession,
  RunAskOptions,
  SessionHistory,
  SessionUsage,
} from './client/session.ts'
