import type { Clock, Logger } from '@allium/core'
import type { Tool } from '@modelcontextprotocol/client'
import type { Secrets } from './secrets.ts'
import type { McpRevision, McpServer } from './server.ts'
import type { ToolLists } from './tool-lists.ts'

/** The parts of the layer that a link needs. */
export interface LinkSetup {
  readonly name: string
  readonly server: McpServer
  readonly secrets: Secrets
  readonly connectTimeout: number
  /** The maximum size of one message of the server in bytes. */
  readonly maxBytes: number
  readonly logger: Logger
  readonly lists: ToolLists
  readonly clock: Clock
  /** The revision of the server. @default what it offers */
  readonly revision?: McpRevision | undefined
  /** Whether the server may ask questions during a call. */
  readonly canElicit: boolean
  /** Whether the server may request model answers during a call. */
  readonly canSample: boolean
  /** Returns the principal of the connection; undefined for the agent's own. */
  owner(): unknown
  /** Receives the server's tools after connecting and when they change. If undefined, tools are not listed. */
  readonly onTools: ((tools: readonly Tool[]) => void) | undefined
}
