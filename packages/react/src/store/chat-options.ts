import type { CallTypes, ToolDef } from '@allium/core'
import type { AgentClient, SessionHistory } from '@allium/server/client'
import type { ChatStorage } from './outbox.ts'

/** The options of `useSession()` and of a `ChatStore`. */
export interface ChatOptions<K extends CallTypes = CallTypes, S = Record<string, unknown>> {
  /** The client of the server. Create it once, outside of components. */
  client: AgentClient<K, S>
  /** The session. Its first input creates it. */
  sessionId: string
  /** The history as a server read it, for the first render. @default none */
  initialHistory?: SessionHistory | undefined
  /**
   * Keeps drafts and unsent inputs through a reload of the page. `null` keeps them in memory only.
   *
   * @default `sessionStorage` of the page
   */
  storage?: ChatStorage | null | undefined
  /** Tools that run in the page. Send their results with `resume()`. @default none */
  clientTools?: readonly ToolDef[] | undefined
  /** Shortest time between two updates while text is streamed, in milliseconds. @default 30 */
  throttle?: number | undefined
}
