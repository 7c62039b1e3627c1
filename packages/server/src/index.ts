export type { RunError, RunEvent } from '@allium/store/event-log'
export { type Server, server } from './app/server.ts'
export type { ServedAgent, ServerOptions } from './options/options.ts'
