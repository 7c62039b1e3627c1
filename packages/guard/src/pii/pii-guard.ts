import type {
  DisplayContext,
  Message,
  ModelContext,
  ModelResponse,
  ToolContext,
  ToolResult,
  TurnView,
} from '@allium/core'
import { writerOf } from '@allium/core'
import { onDisplay } from '@allium/core/context'
import type { Detector, Finding } from '@allium/shared/detect'
import { filterAnswer } from '../content/filter-answer.ts'
import { replaceIn, type TextFilter } from '../content/text-filter.ts'
import type { FailurePolicy } from '../rules/failure-options.ts'
import { blockOptions } from '../rules/guard-codes.ts'
import { emitFound, type GuardTarget, targetNames } from '../rules/guard-found.ts'
import { runLocalCheck, withTimeout } from '../rules/run-check.ts'
import { mapMessage, mapResult } from '../text/map-message.ts'
import { mapStrings } from '../text/map-strings.ts'
import { mapThrown } from '../text/map-thrown.ts'
import { CleanCache } from './clean-cache.ts'
import { hashOf, maskOf } from './masking.ts'
import { type PiiVault, type Placeholders, PlaceholderVaults } from './placeholders.ts'

type Ctx = TurnView<Record<string, unknown>>

/** What happens to a value: it becomes a placeholder that tools can restore, it is masked, it is hashed, or the turn is blocked. */
export type PiiStrategy = 'redact' | 'mask' | 'hash' | 'block'

export interface PiiSettings {
  readonly guard: FailurePolicy
  readonly strategy: PiiStrategy | Readonly<Record<string, PiiStrategy>>
  readonly allow: readonly (string | RegExp)[]
  readonly detectors: readonly Detector[]
  readonly vault: PiiVault | undefined
  /** Returns the secret for hashes. */
  secretOf(ctx: Ctx): string
}

/** Replaces values by placeholders in the texts of a session, and placeholders by values in the arguments of tools. */
export class PiiGuard {
  readonly #settings: PiiSettings
  readonly #types: ReadonlySet<string>
  readonly #vaults: PlaceholderVaults
  readonly #cache = new CleanCache()

  constructor(settings: PiiSettings) {
    const { guard, detectors, vault } = settings
    this.#settings = settings
    this.#types = new Set(detectors.map(({ type }) => type))
    this.#vaults = new PlaceholderVaults(guard.name, vault)
  }

  /** Opens the session's placeholders for a new turn. The reader sees values in their place, unless `display` is none. */
  async openTurn(ctx: Ctx, display: 'own' | 'all' | 'none'): Promise<void> {
    const placeholders = await this.#run(ctx, () => this.#wait(ctx, () => this.#vaults.get(ctx, { isNewTurn: true })))
    if (placeholders !== undefined && display !== 'none')
      onDisplay(ctx, () => placeholders.displayTransform(this.#types, display))
  }

  /** Returns the transform of texts that no running turn shows. */
  async displayOf(ctx: DisplayContext, display: 'own' | 'all'): Promise<((text: string) => string) | undefined> {
    const placeholders = await this.#vaults.read(ctx)
    return placeholders && ((text) => placeholders.reveal(text, this.#types, display))
  }

  /** The principal's own values: its reader may see them again. */
  async cleanInput(ctx: Ctx, message: Message): Promise<Message> {
    const isOwn = message.role === 'user'
    const clean = (filter: TextFilter) => mapMessage(message, filter.filterText)
    return (await this.#withPlaceholders(ctx, 'input', clean, isOwn)) ?? message
  }

  async cleanMessages(ctx: ModelContext<Record<string, unknown>>): Promise<void> {
    await this.#withPlaceholders(ctx, 'input', ({ filterText }) => this.#cache.cleanMessages(ctx, filterText))
  }

  async cleanAnswer(
    ctx: ModelContext<Record<string, unknown>>,
    next: () => Promise<ModelResponse>,
  ): Promise<ModelResponse> {
    const placeholders = await this.#run(ctx, () => this.#placeholdersOf(ctx))
    if (placeholders === undefined) return next()
    try {
      return await filterAnswer(ctx, next, this.#filter(ctx, placeholders, 'output'), this.#settings.guard)
    } finally {
      await this.#run(ctx, () => this.#save(ctx, placeholders))
    }
  }

  async cleanResult(ctx: Ctx, result: ToolResult): Promise<ToolResult> {
    const clean = ({ filterText }: TextFilter) => cleanResult(result, filterText)
    return (await this.#withPlaceholders(ctx, 'toolResults', clean)) ?? result
  }

  /** Returns whether values were put into the arguments; or why the call is refused: a placeholder does not exist or has lost its value. */
  restoreArgs(ctx: ToolContext<Record<string, unknown>>): Promise<boolean | string | undefined> {
    return this.#run(ctx, async () => {
      const { args } = ctx
      const placeholders = await this.#placeholdersOf(ctx)
      if (JSON.stringify(args)?.includes('[')) await this.#load(ctx, placeholders)
      const unknownNames = new Set<string>()
      const restored = mapStrings(args, (text) => {
        const value = placeholders.restore(text, this.#types, (name) => unknownNames.add(name))
        return value !== text && placeholders.isNumber(text) ? Number(value) : value
      })
      if (unknownNames.size > 0)
        return `Nobody knows what ${[...unknownNames].join(', ')} stands for. Ask the user for it.`
      if (restored !== args) ctx.modifyArgs(() => restored, { show: false })
      return restored !== args
    })
  }

  /** Loads the session's placeholders, runs the work, and saves new ones. */
  #withPlaceholders<T>(
    ctx: Ctx,
    target: GuardTarget,
    work: (filter: TextFilter) => Promise<T>,
    isOwn = false,
  ): Promise<T | undefined> {
    return this.#run(ctx, async () => {
      const placeholders = await this.#placeholdersOf(ctx)
      const result = await work(this.#filter(ctx, placeholders, target, isOwn))
      await this.#save(ctx, placeholders)
      return result
    })
  }

  #run<T>(ctx: Ctx, work: () => T | PromiseLike<T>): Promise<T | undefined> {
    return runLocalCheck(ctx, this.#settings.guard, work)
  }

  #placeholdersOf(ctx: Ctx): Placeholders | Promise<Placeholders> {
    return this.#wait(ctx, () => this.#vaults.get(ctx))
  }

  #load(ctx: Ctx, placeholders: Placeholders): Placeholders | Promise<Placeholders> {
    return this.#wait(ctx, () => placeholders.load())
  }

  #save(ctx: Ctx, placeholders: Placeholders): Promise<void> | undefined {
    return this.#wait(ctx, () => placeholders.save(writerOf(ctx)))
  }

  /** Waits for the vault, at most until the timeout of the guard. Placeholders in memory need no timer. */
  #wait<T>(ctx: Ctx, work: () => T): T {
    if (this.#vaults.vaultFor(ctx) === undefined) return work()
    return withTimeout(ctx, this.#settings.guard, work) as T
  }

  #filter(ctx: Ctx, placeholders: Placeholders, target: GuardTarget, isOwn = false): TextFilter {
    const { detectors } = this.#settings
    const replace: TextFilter['replace'] = async (found, isNumber) => {
      const action = this.#actionFor(ctx, target, found)
      const { type, value } = found
      if (action === 'mask') return maskOf(type, value)
      if (action === 'hash') return hashOf(this.#settings.secretOf(ctx), type, value)
      if (action === undefined) return found.text
      await this.#load(ctx, placeholders)
      return placeholders.placeholderFor(type, value, { isOwn, isNumber })
    }
    const filterText = (text: string, isNumber?: boolean) =>
      this.#cache.cleanText(text, (onPublic) =>
        replaceIn(text, detectors, async (found) => {
          const replacement = await replace(found, isNumber)
          if (replacement === found.text) onPublic()
          return replacement
        }),
      )
    return { detectors, replace, filterText }
  }

  /** Returns what happens to a value; undefined for a public one. Blocks the turn if that is the strategy. */
  #actionFor(ctx: Ctx, target: GuardTarget, { type, value }: Finding): Exclude<PiiStrategy, 'block'> | undefined {
    const { guard, strategy, allow } = this.#settings
    if (isPublic(value, ctx.agent.instructions, allow)) return undefined
    const { name } = guard
    const action = typeof strategy === 'string' ? strategy : (strategy[type] ?? 'redact')
    ctx.state[`${name}:found`] = 1
    emitFound(ctx, { layer: name, where: target, found: type, action })
    if (action !== 'block') return action
    const reason = `"${name}" found a value of the type "${type}" in the ${targetNames[target]}.`
    return ctx.block(reason, blockOptions('guard.pii', guard))
  }
}

/** Whether the instructions contain a value, or the option `allow` names it. */
function isPublic(value: string, instructions = '', allow: PiiSettings['allow']): boolean {
  return (
    instructions.includes(value) ||
    allow.some((entry) =>
      typeof entry === 'string' ? entry.toLowerCase() === value.toLowerCase() : value.search(entry) >= 0,
    )
  )
}

/** Errors are logged, so they are cleaned as well. */
async function cleanResult(result: ToolResult, filterText: TextFilter['filterText']): Promise<ToolResult> {
  const cleaned = await mapResult(result, filterText)
  const { error } = result
  const mapped = error === undefined ? undefined : await mapThrown(error, async (text) => filterText(text))
  return mapped === error ? cleaned : { ...cleaned, error: mapped }
}
