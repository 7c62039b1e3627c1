export { type AgentClient, type ClientOptions, createClient, type Listed, type Page } from './client/client.ts'
export type { Answer, ClientEvent, ClientRun, Pending } from './client/events.ts'
export { ClientError } from './client/http.ts'
export type { ClientSession, SessionHistory, SessionUsage } from './client/session.ts'
