import type { FlowLabels, SessionKey, StoredTurn, Writer } from '@allium/core'

/** The conversations that one person has with an agent, or with a group of agents: what recall searches at once. */
export type PassageScope = Pick<SessionKey, 'tenant' | 'owner' | 'agent'>

/** A message to be found by its words. Its text stays in the history, and is read from there. */
export interface NewPassage {
  /** Index of the message in the history. */
  readonly index: number
  readonly role: 'user' | 'assistant'
  /** The user who wrote it, or for whom the model did. In a shared session this is not always the owner. */
  readonly author: string
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number
  /**
   * How often each term occurs, by blind term: 16 lower-case hexadecimal digits, as `blindTerms()` returns them. A store keeps the first
   * 2,048 terms, and counts each up to 15.
   */
  readonly terms: Readonly<Record<string, number>>
  /** The number of its words, for a ranker that considers the length. */
  readonly words: number
  /** The labels of its text, for `guard.flow`. @default untrusted */
  readonly flow?: FlowLabels | undefined
}

/** The passages of a turn. `append` stores them with it; see `withPassages()`. */
export interface TurnPassages {
  /** In the order of the history. They replace those of the session from the turn's `from` on. @default none */
  readonly passages?: readonly NewPassage[] | undefined
  /**
   * How many of the turn's first messages the session had before its run. In the first turn of a session, they were copied from another
   * session by `fork()`, so that no passages of them are stored.
   * @default 0
   */
  readonly copied?: number | undefined
}

/** A turn with its passages, as `append` of a `SessionStore` takes it. */
export type PassageTurn = StoredTurn & TurnPassages

/** The place of a passage in a scope. Positions of a session count its passages from 0 on, without gaps. */
export interface PassagePlace {
  readonly sessionId: string
  readonly position: number
}

/** A term in a passage. */
export interface Posting extends PassagePlace {
  /** Index of the message in the history. */
  readonly index: number
  readonly term: string
  /** How often it occurs: 1 to 15. */
  readonly count: number
  /** The number of words of the passage. */
  readonly words: number
}

/** A passage with its text. */
export interface Passage extends PassagePlace, Omit<NewPassage, 'terms' | 'flow'> {
  readonly turnId: string
  readonly flow: FlowLabels
  /** The text of its message, as the history has it. */
  readonly text: string
}

/** The vector of a passage by an embedding model: one signed byte for each dimension. */
export interface PassageVector extends PassagePlace {
  readonly vector: Int8Array
}

/** A vector to store. The passage is named exactly, so that no vector is stored for a text that took its place. */
export interface NewPassageVector extends PassageVector, Pick<Passage, 'turnId' | 'index'> {}

/** The statistics of a scope. */
export interface PassageCount {
  readonly passages: number
  /** The mean number of words; 0 without passages. */
  readonly meanWords: number
}

/** Since when the memory of a person is off, in milliseconds since the epoch. It is on if neither is set. */
export interface MemoryOff {
  /** The person has switched it off. */
  readonly person?: number
  /** An operator has switched it off for the tenant. */
  readonly tenant?: number
}

/** A turn of a session whose passages are written again. */
export interface RewrittenTurn {
  /** The number of turns before it. */
  readonly version: number
  /** The number of turns that the session has. */
  readonly turns: number
}

/**
 * Finds the messages of a person's conversations by their words. Terms go in, postings come out, so one ranker orders them the same for every
 * store. It never reads the passages of another tenant or owner, and their number and words affect no result.
 *
 * Passages are written by `append` of the store's sessions, in its transaction. They move and are deleted with their session. Implementations
 * pass `passageStoreConformance` of `@allium/testing/passages`.
 *
 * Memory can be switched off for a person or a tenant. Then there is no key, so nothing is found, and no passage is stored, not even that of
 * a turn that `append` stores while the switch is set. Stored passages stay. Documents are not affected.
 *
 * @throws AlliumError `store.key` for an invalid scope, `store.unavailable`, `store.corrupt`
 */
export interface PassageStore {
  /** Whether the store encrypts the keys and the vectors. */
  readonly sealed: boolean
  /**
   * Returns the key of an owner for `blindTerms()`: 32 random bytes. It is erased with the owner, and the next one has another key. Read it
   * before each turn and each question: it costs one row, and a kept one may be of an erased owner.
   *
   * @param of.agent for documents, whose `agent` begins with `memory:documents/`. They have a key while memory is off, too
   * @param by makes the key if there is none. Pass the owner of the run that stores passages; omit it for a question
   * @returns undefined if there is none or memory is off, so nothing can be found
   * @throws AlliumError `store.sealed` if the tenant's key is gone; `store.fenced` if the owner was erased after the run of `by` began
   */
  key(of: Omit<PassageScope, 'agent'> & Partial<PassageScope>, by?: Writer): Promise<Uint8Array | undefined>
  /**
   * Returns in which passages of the scope the terms occur: by term in the given order, then the last appended first, up to 10,000 for a term.
   *
   * @param terms up to 64 blind terms under the owner's key. More, or other texts, are rejected with `options.invalid`
   */
  postings(scope: PassageScope, terms: readonly string[]): Promise<Posting[]>
  /**
   * Returns passages with their texts, in the given order. It omits those that do not exist, so that a ranker may ask for the positions before
   * and after a passage.
   *
   * @param places up to 1,000. More are rejected with `options.invalid`
   */
  read(scope: PassageScope, places: readonly PassagePlace[]): Promise<Passage[]>
  /** Returns the number of passages of the scope, and their mean length. */
  count(scope: PassageScope): Promise<PassageCount>
  /** Returns since when the memory of a person is off. */
  off(of: Pick<PassageScope, 'tenant' | 'owner'>): Promise<MemoryOff>
  /**
   * Switches memory off or on: for a person, or for a tenant if `owner` is omitted. It is on only if both switches are on. When this
   * resolves, no turn can store a passage any more. The switch is erased with the person or the tenant.
   *
   * @param at since when it is off; undefined switches it on
   * @param by the person's request
   * @throws AlliumError `store.fenced` if the person was erased after the request of `by` began
   */
  setOff(of: { tenant: string; owner?: string | undefined }, at: number | undefined, by?: Writer): Promise<void>
  /**
   * Replaces the passages of a session from a stored turn's `from` on with those of the turn, as `append` would have stored them. For turns
   * that were stored without passages, or with other terms. It needs no lease.
   *
   * @returns false if nothing was written: the session has changed or is gone, or memory is off
   * @throws AlliumError `state.invalid` as `append` does
   */
  rewrite(key: SessionKey, of: RewrittenTurn, turn: PassageTurn): Promise<boolean>
  /**
   * Returns the vectors of passages by a model, in the given order. It omits those of passages that have none, or that of another model.
   *
   * @param places up to 1,000. More are rejected with `options.invalid`
   * @param model a name of 1 to 512 bytes, such as `openai/text-embedding-3-small`
   */
  vectors(scope: PassageScope, places: readonly PassagePlace[], model: string): Promise<PassageVector[]>
  /**
   * Stores vectors of passages, each in place of that of another model. A passage that is gone gets none. A vector moves and is deleted with its
   * passage, and is encrypted if the store encrypts.
   *
   * @param vectors up to 1,000, with 1 to 8,192 dimensions each. Others are rejected with `options.invalid`
   */
  putVectors(scope: PassageScope, model: string, vectors: readonly NewPassageVector[]): Promise<void>
}
