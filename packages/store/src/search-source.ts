import type { FlowLabels, Message, ToolExecution, TurnView } from '@allium/core'

/** A text that a search found. All of its fields are data, never instructions. */
export interface SearchHit {
  readonly text: string
  /** The id of the document that it is part of. */
  readonly id?: string | undefined
  /** The title of the document, for a citation. */
  readonly title?: string | undefined
  readonly url?: string | undefined
  /** The headings above it, from the highest to the lowest. */
  readonly section?: string | undefined
  /** The first and the last paragraph of the document that it has, counted from 1. */
  readonly paragraphs?: readonly [first: number, last: number] | undefined
  /** Who wrote it, such as `user` or `assistant`. */
  readonly author?: string | undefined
  /** Its day, as `2026-05-04`. */
  readonly on?: string | undefined
  /** Labels of the text for `guard.flow`. @default untrusted */
  readonly flow?: FlowLabels | undefined
}

/** Whose texts a search may find, and how many. */
export interface SearchScope {
  readonly tenant: string
  /** The person. Without one, the search finds only texts that the whole tenant shares. */
  readonly owner?: string | undefined
  /** The maximum number of hits. */
  readonly limit?: number | undefined
}

/** The place of a search by an agent. */
export interface SearchContext
  extends SearchScope,
    Pick<TurnView, 'principal' | 'sessionKey' | 'signal' | 'find' | 'emit' | 'clock' | 'logger'> {
  /** Empty for a principal without a user. */
  readonly owner: string
  readonly limit: number
  /** The messages that the model has already. */
  readonly messages: readonly Readonly<Message>[]
  /** The tool call, for `delegate()`. */
  readonly call: ToolExecution
}

/** A source of texts that `tools.search` asks. */
export interface SearchSource {
  /** Its name in the description of the tool and in events. */
  readonly name: string
  /** Throws for a principal that it cannot search for, and if the agent lacks what it needs. Called at the begin of each turn. */
  check?(ctx: Pick<TurnView, 'principal' | 'find'>): void
  /** Returns what fits a question best, best first. It finds nothing that the principal may not see. */
  search(question: string, ctx: SearchContext): Promise<readonly SearchHit[]>
}
