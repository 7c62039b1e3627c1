import { AlliumError, type SessionKey, type Writer } from '@allium/core'
import {
  type EventScope,
  MemoryErasures,
  type MemoryOff,
  type NewPassageVector,
  type Passage,
  type PassageCount,
  type PassagePlace,
  type PassageScope,
  type PassageStore,
  type PassageTurn,
  type PassageVector,
  type Posting,
  type RewrittenTurn,
} from '@allium/store'
import type { MemorySession } from '../memory-store/memory-session.ts'
import {
  checkPlaces,
  checkRewrite,
  checkScope,
  checkScopeOwner,
  checkSwitch,
  checkTerms,
  maxPostings,
} from './check-passage-query.ts'
import { checkPassages } from './check-passages.ts'
import { checkVectorModel, checkVectors } from './check-vectors.ts'
import { isMemory } from './is-memory.ts'
import type { MemoryPassage } from './memory-passage.ts'
import { passageText } from './passage-text.ts'

/** Finds the passages of the memory store. They are in the sessions, so they move and are deleted with those. */
export class MemoryPassages implements PassageStore {
  readonly sealed = false
  readonly #sessions: SessionsOf
  readonly #keys = new Map<string, Uint8Array>()
  /** Since when memory is off, by tenant and owner. The owner of a tenant's switch is empty. */
  readonly #off = new Map<string, number>()
  readonly #erasures = new MemoryErasures()
  #lastN = 0

  constructor(sessions: SessionsOf) {
    this.#sessions = sessions
  }

  /** Returns the passages that a turn adds to its session. @throws AlliumError `state.invalid`, `store.key` */
  toAdd(key: Agent, turn: PassageTurn, version: number): MemoryPassage[] {
    const { turnId } = turn
    const checked = checkPassages(turn, version)
    return (this.#isOff(key) ? [] : checked).map((one) => ({
      ...one,
      turnId,
      terms: new Map(one.terms),
      n: ++this.#lastN,
    }))
  }

  async key({ agent, ...of }: Agent, by?: Writer): Promise<Uint8Array | undefined> {
    const { tenant, owner } = checkScopeOwner(of)
    const name = JSON.stringify([tenant, owner])
    if (by !== undefined && this.#erasures.fences({ ...by, tenant, owner })) throw erasedMeanwhile(owner)
    if (this.#isOff({ tenant, owner, agent })) return undefined
    const key = this.#keys.get(name) ?? (by && crypto.getRandomValues(new Uint8Array(32)))
    if (key !== undefined) this.#keys.set(name, key)
    return key?.slice()
  }

  async postings(scope: PassageScope, terms: readonly string[]): Promise<Posting[]> {
    const found = new Map(checkTerms(terms).map((term) => [term, [] as (Posting & { n: number })[]]))
    for (const { key, passages } of this.#in(scope))
      for (const [position, { n, index, words, terms: counts }] of passages.entries())
        for (const [term, postings] of found) {
          const count = counts.get(term)
          if (count !== undefined) postings.push({ sessionId: key.sessionId, position, index, term, count, words, n })
        }
    return [...found.values()].flatMap((postings) =>
      postings
        .sort((a, b) => b.n - a.n)
        .slice(0, maxPostings)
        .map(({ n: _, ...posting }) => posting),
    )
  }

  async read(scope: PassageScope, places: readonly PassagePlace[]): Promise<Passage[]> {
    return this.#at(scope, checkPlaces(places)).flatMap(({ session, passage, position }) =>
      passageOf(session, passage, position),
    )
  }

  async vectors(scope: PassageScope, places: readonly PassagePlace[], model: string): Promise<PassageVector[]> {
    checkVectorModel(model)
    return this.#at(scope, checkPlaces(places)).flatMap(({ session, passage: { embedded }, position }) =>
      embedded?.model === model ? { sessionId: session.key.sessionId, position, vector: embedded.vector.slice() } : [],
    )
  }

  async putVectors(scope: PassageScope, model: string, vectors: readonly NewPassageVector[]): Promise<void> {
    checkVectorModel(model)
    for (const { passage, turnId, index, vector } of this.#at(scope, checkVectors(vectors)))
      if (passage.turnId === turnId && passage.index === index) passage.embedded = { model, vector: vector.slice() }
  }

  async count(scope: PassageScope): Promise<PassageCount> {
    const words = this.#in(scope).flatMap(({ passages }) => passages.map((one) => one.words))
    const sum = words.reduce((a, b) => a + b, 0)
    return { passages: words.length, meanWords: words.length === 0 ? 0 : sum / words.length }
  }

  async off(of: Owner): Promise<MemoryOff> {
    const { tenant, owner } = checkScopeOwner(of)
    const [person, all] = [owner, ''].map((one) => this.#off.get(JSON.stringify([tenant, one])))
    return { ...(person !== undefined && { person }), ...(all !== undefined && { tenant: all }) }
  }

  async setOff(of: { tenant: string; owner?: string | undefined }, at: number | undefined, by?: Writer): Promise<void> {
    const { tenant, owner } = checkSwitch(of, at)
    if (by !== undefined && this.#erasures.fences({ ...by, tenant, owner })) throw erasedMeanwhile(owner)
    const name = JSON.stringify([tenant, owner])
    if (at === undefined) this.#off.delete(name)
    else this.#off.set(name, at)
  }

  async rewrite(given: SessionKey, { version, turns }: RewrittenTurn, turn: PassageTurn): Promise<boolean> {
    const key = checkRewrite(given, { version, turns })
    const added = this.toAdd(key, turn, version)
    const session = this.#sessions.find(key)
    const isSame = session?.turns.length === turns && session.turns[version]?.turnId === turn.turnId
    if (!isSame || this.#isOff(key)) return false
    session.passages = [...session.passages.filter(({ index }) => index < turn.from), ...added]
    return true
  }

  /** Deletes the keys and switches of an owner, or of all owners of a tenant. A session has none. */
  erase(scope: EventScope, at: number): void {
    if ('sessionId' in scope) return
    const { tenant, owner } = scope
    this.#erasures.add({ tenant, ...(owner !== undefined && { owner }) }, at)
    for (const rows of [this.#keys, this.#off])
      for (const name of rows.keys()) {
        const [ofTenant, ofOwner] = JSON.parse(name) as [string, string]
        if (ofTenant === tenant && (owner ?? ofOwner) === ofOwner) rows.delete(name)
      }
  }

  #isOff({ tenant, owner, agent }: Agent): boolean {
    return isMemory(agent) && ['', owner].some((one) => this.#off.has(JSON.stringify([tenant, one])))
  }

  /** Returns the passages that exist at places of a scope. */
  #at<T extends PassagePlace>(scope: PassageScope, places: readonly T[]) {
    const sessions = new Map(this.#in(scope).map((session) => [session.key.sessionId, session]))
    return places.flatMap((place) => {
      const session = sessions.get(place.sessionId)
      const passage = session?.passages[place.position]
      return session === undefined || passage === undefined ? [] : { ...place, session, passage }
    })
  }

  #in(scope: PassageScope): MemorySession[] {
    const { agent, ...of } = checkScope(scope)
    return this.#sessions.in({ ...of, agents: [agent] })
  }
}

type Owner = Pick<PassageScope, 'tenant' | 'owner'>
type Agent = Owner & { readonly agent?: string | undefined }

/** The sessions of the memory store. */
interface SessionsOf {
  find(key: SessionKey): MemorySession | undefined
  in(scope: { tenant: string; owner?: string; agents?: readonly string[] }): MemorySession[]
}

function passageOf(session: MemorySession, passage: MemoryPassage, position: number): Passage[] {
  const { terms: _, n: __, embedded: ___, ...fields } = passage
  const turn = session.turns.find(({ turnId }) => turnId === passage.turnId)
  const message = turn?.messages[passage.index - turn.from]
  if (message === undefined) return []
  const { sessionId } = session.key
  return [{ ...fields, sessionId, position, flow: { ...passage.flow }, text: passageText(message) }]
}

function erasedMeanwhile(owner: string): AlliumError {
  return new AlliumError(
    'store.fenced',
    `The data of the owner "${owner}" was erased while the run was active. Nothing was stored. A new run is stored as usual.`,
  )
}
