export {
  type AgentClient,
  type ClientOptions,
  createClient,
  type DecisionResult,
  type Page,
  type PendingApproval,
  type SessionListItem,
} from './client/client.ts'
export type { Answer, ClientEvent, ClientRun, PendingCall } from './client/events.ts'
export { ClientError } from './client/http.ts'
export type { OutputSchema } from './client/output.ts'
export type {
  ClientInput,
  ClientSession,
  FeedbackInput,
  RequestOptions,
  RunRequestOptions,
  SessionHistory,
  SessionUsage,
} from './client/session.ts'
export type { FeedbackView } from './sessions/feedback-view.ts'
