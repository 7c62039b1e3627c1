import type { ReplayRequest, ReplayView } from './replay-change.ts'

/** The agent, as its process reports it. */
export interface AgentFacts {
  readonly agent: string
  /** The principal of requests that name none. */
  readonly principal: unknown
  /** The agent has a store of its own: its sessions can be read and, with `copies`, copied. */
  readonly readOnly?: { readonly copies: boolean } | undefined
}

/** A message from the agent's process to the inspector. */
export type ChildMessage =
  | { readonly type: 'replayed'; readonly view: ReplayView }
  | ({ readonly type: 'ready'; readonly port: number } & AgentFacts)
  | { readonly type: 'failed'; readonly message: string }

/** The data that the inspector gives to the agent's process. */
export interface ChildOptions {
  /** The absolute path of the agent's module or config. */
  readonly file: string
  /** The export that has the agent. */
  readonly exportName: string
  /** The folder of the project. */
  readonly cwd: string
  /** The SQLite file of the sessions. */
  readonly database: string
  /** The key that each request to the agent's process has in the header `allium-dev-key`. */
  readonly key: string
}

/** A message from the inspector to the agent's process. */
export type ParentMessage =
  | { readonly type: 'start'; readonly options: ChildOptions }
  | { readonly type: 'replay'; readonly options: ChildOptions; readonly request: ReplayRequest }
  | { readonly type: 'close' }

/** Largest body of a request to the agent, in bytes. Images and files are base64 in it. */
export const maxBodyBytes = 8 * 1_048_576
/** The header with the key that the inspector shares with the agent's process. */
export const keyHeader = 'allium-dev-key'
/** The header with the principal of a request, as JSON. */
export const principalHeader = 'allium-principal'
/** The header with the runtime context of a request, as JSON. */
export const contextHeader = 'allium-context'
