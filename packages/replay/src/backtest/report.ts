import { Reasons } from '../recorded/reasons.ts'
import type { BacktestChange, BacktestChangeKind, JudgedTurn } from './judge-turn.ts'

/** What a changed agent would have decided about recorded tool calls. Plain JSON data. */
export interface BacktestReport {
  readonly agent: string
  readonly version?: string | undefined
  readonly turns: {
    /** Turns whose calls were run through the tool layers. */
    readonly run: number
    /** Turns that could not be judged to their end, by reason. */
    readonly diverged: Readonly<Record<string, number>>
    /** Turns that could not be run, by reason. */
    readonly notReplayable: Readonly<Record<string, number>>
  }
  readonly calls: {
    readonly judged: number
    readonly unchanged: number
    readonly newlyDenied: number
    readonly newlyAllowed: number
    readonly newlyWaiting: number
    /** Calls that a layer now answers instead of the tool. */
    readonly newlyAnswered: number
    /** Judged calls after a changed call of the same turn. The model might not have made them. */
    readonly afterChange: number
    /** Calls that could not be judged, by reason. */
    readonly notJudged: Readonly<Record<string, number>>
  }
  /** The changes by layer and reason, the most frequent first. */
  readonly layers: readonly BacktestLayerChanges[]
  /** Layers that also hook turns, model calls or sessions. Their tool hooks ran without those. */
  readonly withoutHooks: readonly { readonly layer: string; readonly hooks: readonly string[] }[]
  /** Layers whose tool hooks did not run, because they only watch calls or cache results. */
  readonly passedBy: readonly string[]
  /** The changed calls in the order of their turns, at most `maxChanges`. */
  readonly changes: readonly BacktestChange[]
}

/** The changes that a layer makes for one reason. */
export interface BacktestLayerChanges {
  readonly change: BacktestChangeKind
  readonly layer: string | undefined
  readonly reason: string | undefined
  readonly calls: number
  /** How many of them come after another changed call of their turn. */
  readonly afterChange: number
  /** The numbers of calls by tenant. */
  readonly tenants: Readonly<Record<string, number>>
  readonly withoutHooks: readonly string[]
}

/** Reasons may contain arguments, so their number is limited. */
const mostGroups = 1_000

type Group = { -readonly [K in keyof Omit<BacktestLayerChanges, 'tenants'>]: BacktestLayerChanges[K] } & {
  readonly tenants: Reasons
}

/** Adds up the results of turns. */
export class ReportBuilder {
  readonly notReplayable = new Reasons()
  readonly #diverged = new Reasons()
  readonly #notJudged = new Reasons()
  readonly #kinds = new Map<BacktestChangeKind, number>()
  readonly #groups = new Map<string, Group>()
  readonly #changes: BacktestChange[] = []
  readonly #maxChanges: number
  #run = 0
  #judged = 0
  #afterChange = 0

  constructor(maxChanges: number) {
    this.#maxChanges = maxChanges
  }

  add({ judged, afterChange, changes, notJudged, diverged }: JudgedTurn): void {
    this.#run++
    this.#judged += judged
    this.#afterChange += afterChange
    for (const reason of notJudged) this.#notJudged.add(reason)
    if (diverged !== undefined) this.#diverged.add(diverged)
    for (const change of changes) this.#addChange(change)
  }

  report(about: Pick<BacktestReport, 'agent' | 'version' | 'withoutHooks' | 'passedBy'>): BacktestReport {
    const { agent, version, withoutHooks, passedBy } = about
    const of = (kind: BacktestChangeKind) => this.#kinds.get(kind) ?? 0
    const changed = [...this.#kinds.values()].reduce((sum, count) => sum + count, 0)
    const layers = Array.from(this.#groups.values(), ({ tenants, ...group }) => ({ ...group, tenants: tenants.counts }))
    return {
      agent,
      ...(version !== undefined && { version }),
      turns: { run: this.#run, diverged: this.#diverged.counts, notReplayable: this.notReplayable.counts },
      calls: {
        judged: this.#judged,
        unchanged: this.#judged - changed,
        newlyDenied: of('newly denied'),
        newlyAllowed: of('newly allowed'),
        newlyWaiting: of('newly waiting'),
        newlyAnswered: of('newly answered'),
        afterChange: this.#afterChange,
        notJudged: this.#notJudged.counts,
      },
      layers: layers.toSorted((a, b) => b.calls - a.calls),
      withoutHooks,
      passedBy,
      changes: this.#changes,
    }
  }

  #addChange(one: BacktestChange): void {
    const { change, layer, reason, tenant, afterChange, withoutHooks } = one
    this.#kinds.set(change, (this.#kinds.get(change) ?? 0) + 1)
    if (this.#changes.length < this.#maxChanges) this.#changes.push(one)
    const given = JSON.stringify([change, layer, reason])
    const isFull = this.#groups.size >= mostGroups && !this.#groups.has(given)
    const key = isFull ? JSON.stringify([change, layer]) : given
    const group = this.#groups.get(key) ?? {
      ...{ change, layer, reason: isFull ? 'other reasons' : reason, calls: 0, afterChange: 0 },
      ...{ tenants: new Reasons(), withoutHooks },
    }
    this.#groups.set(key, group)
    group.calls++
    if (afterChange) group.afterChange++
    group.tenants.add(tenant)
  }
}
