import {
  AlliumError,
  type FlowLabels,
  type Message,
  type ModelResponse,
  type NextFor,
  ownerOf,
  type SessionView,
  type ToolExecution,
  type TurnView,
  tenantOf,
} from '@allium/core'
import { type Passage, type PassageStore, type SearchContext, type SearchHit, sharedStore } from '@allium/store'
import { passageText } from '@allium/store/passages'
import { type Language, loadLanguage } from './language.ts'
import type { ResolvedRecallOptions } from './recall-options.ts'
import { hitOf, labelsOf, type RecalledText, recalledText } from './recalled-text.ts'
import { search } from './search.ts'

/** Passages were recalled. The event has their places, not their text. */
export interface Recalled {
  type: 'memory:recall'
  layer: string
  /** Best first. */
  passages: readonly { readonly sessionId: string; readonly turnId: string; readonly index: number }[]
  /** The labels of the recalled text. */
  flow: FlowLabels
}

declare module '@allium/core' {
  interface AgentEvents {
    'memory:recall': Recalled
  }
}

type Place = Pick<SessionView, 'principal' | 'sessionKey' | 'find'>
/** A place that can log, wait and report. */
type Asker = Place & Pick<TurnView, 'emit' | 'clock' | 'signal' | 'logger'>
/** How an embedding model is called: by a tool, or by a layer. */
type Through = ToolExecution | NextFor<ModelResponse> | undefined
type Messages = readonly Readonly<Message>[]

/** Recalls for the sessions of an agent. It keeps nothing of them. */
export class Recaller {
  readonly #options: ResolvedRecallOptions

  constructor(options: ResolvedRecallOptions) {
    this.#options = options
  }

  language(): Promise<Language> {
    return loadLanguage(this.#options.language)
  }

  /**
   * Throws before anything is recalled for a person who is not known, because that would be shared by all of them.
   *
   * @throws AlliumError `session.principal`
   */
  checkPrincipal({ principal }: Pick<Place, 'principal'>): void {
    this.userOf(principal)
  }

  userOf(principal: unknown): string {
    const [tenant, user] = [tenantOf(principal), ownerOf(principal)]
    if (tenant !== undefined && user !== undefined) return user
    const { as } = this.#options
    const field = tenant === undefined ? 'tenantId' : 'userId'
    throw new AlliumError(
      'session.principal',
      `"${as}" recalls the conversations of one user, but this session's principal has no ${field}. Open it with agent.session({ principal: { tenantId, userId } }).`,
      { details: { layer: as } },
    )
  }

  /** @throws AlliumError `layer.config` if there is no store */
  storeOf(ctx: Pick<Place, 'find'>): PassageStore {
    const { store = ctx.find(sharedStore)?.passages, as } = this.#options
    if (store !== undefined) return store
    throw new AlliumError(
      'layer.config',
      `"${as}" needs the passages of a store. Pass memory.recall({ store: store.passages }), with the store of memory.persist.`,
      { details: { layer: as } },
    )
  }

  /** Returns why nothing was found, for the model. */
  async whyNothing(ctx: Place): Promise<string> {
    const { tenant, owner } = ctx.sessionKey
    const { person, tenant: all } = await this.storeOf(ctx).off({ tenant, owner })
    if (person === undefined && all === undefined) return 'Earlier conversations have nothing that fits.'
    return 'Nothing is recalled, because memory is switched off for this user.'
  }

  /** Returns what fits a question, without the messages that the request has. */
  async recall(question: string, ctx: Asker, request: Messages, through?: Through): Promise<RecalledText> {
    const { limit, tokens } = this.#options
    const found = await this.#find(question, ctx, request, limit, through)
    const recalled = recalledText(found, { tokens, user: this.userOf(ctx.principal) })
    this.#emit(ctx, recalled.passages, recalled.flow)
    return recalled
  }

  /** Returns what fits a question as hits of `tools.search`. */
  async search(question: string, ctx: SearchContext): Promise<SearchHit[]> {
    const passages = await this.#find(question, ctx, ctx.messages, ctx.limit, ctx.call)
    const user = this.userOf(ctx.principal)
    this.#emit(ctx, passages, labelsOf(passages, user))
    return passages.map((passage) => hitOf(passage, user))
  }

  async #find(question: string, ctx: Asker, request: Messages, limit: number, through: Through): Promise<Passage[]> {
    const { tenant, owner, agent } = ctx.sessionKey
    const { embed: model, as: layer } = this.#options
    this.checkPrincipal(ctx)
    const known = new Set(request.map(textKey))
    return search(question, {
      store: this.storeOf(ctx),
      scope: { tenant, owner, agent },
      language: await this.language(),
      limit,
      rerank: model && through && (await late()).rerankBy({ model, layer, ctx, through }),
      isKnown: (passage) => known.has(`${passage.role}:${passage.text}`),
    })
  }

  #emit(ctx: Pick<TurnView, 'emit'>, passages: readonly Passage[], flow: FlowLabels): void {
    const places = passages.map(({ sessionId, turnId, index }) => ({ sessionId, turnId, index }))
    ctx.emit({ type: 'memory:recall', layer: this.#options.as, passages: places, flow } satisfies Recalled)
  }
}

/** Loads what most agents do not use. */
export const late = () => import('@allium/memory/late')

function textKey(message: Readonly<Message>): `${string}:${Passage['text']}` {
  return `${message.role}:${passageText(message)}`
}
