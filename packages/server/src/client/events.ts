import type { PendingCall, StreamEvent, Tool, ToolStart, TurnEnd, Usage } from '@allium/core'
import type { RunError } from '@allium/durable/log'

/** Tools by their names, as `typeof tools` of an object of them. */
export type ToolSet = { readonly [name: string]: Pick<Tool, 'name' | 'description'> }

/** What the model gives a tool: what its schema takes. */
type InputOf<T> = T extends { schema?: infer S }
  ? NonNullable<S> extends { '~standard': { types?: infer Types } }
    ? NonNullable<Types> extends { input: infer Input }
      ? Input
      : Record<string, unknown>
    : Record<string, unknown>
  : Record<string, unknown>

/** The same of a call whose name tells which tool it is. */
type Named<Call extends { name: string; args: unknown }, T> = string extends keyof T
  ? Call
  : { [Name in keyof T & string]: Omit<Call, 'name' | 'args'> & { name: Name; args: InputOf<T[Name]> } }[keyof T &
      string]

/** A call that waits for a decision. */
export type Pending<T = ToolSet> = Named<PendingCall, T>

/**
 * An event of a run, or `run:error`, the last one of a run that has failed. Those that layers tell of themselves come too, with
 * types such as `guard:budget`: they are no part of this union, so that what is has one meaning each.
 */
export type ClientEvent<T = ToolSet> =
  | Exclude<StreamEvent, ToolStart | TurnEnd>
  | Named<ToolStart, T>
  | (Omit<TurnEnd, 'pending'> & { pending?: readonly Pending<T>[] })
  | RunError

/** What a run came to. */
export interface Answer<T = ToolSet> {
  readonly sessionId: string
  readonly turnId: string
  readonly status: 'completed' | 'stopped' | 'blocked' | 'suspended' | 'aborted'
  /** The text of the last step. */
  readonly text: string
  readonly usage: Usage
  /** Why it was stopped, blocked or aborted. */
  readonly reason?: string
  readonly code?: string
  /** The calls that wait for a decision. */
  readonly pending: readonly Pending<T>[]
}

/** A run: read its events, or await its answer, or both. It is asked for once, whatever becomes of connections. */
export interface ClientRun<T = ToolSet> extends AsyncIterable<ClientEvent<T>>, PromiseLike<Answer<T>> {}
