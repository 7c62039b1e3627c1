import {
  defineMiddleware,
  layerOptions,
  type Message,
  type ModelContext,
  misconfigured,
  option,
  sum,
  type ToolContext,
  type ToolResult,
  type TurnContext,
  type TypedMiddleware,
  withState,
  writerOf,
} from '@allium/core'
import type { Detector, Finding } from '@allium/detect'
import { blockOptions } from './block-options.ts'
import type { FindingState } from './content.ts'
import { createDetector, type DetectorOptions } from './detector.ts'
import { isDeepFrozen } from './frozen.ts'
import { generatedSecret } from './generated-secret.ts'
import { emitFound, type GuardTarget, targetNames } from './guard-found.ts'
import { mapThrown } from './map-error.ts'
import { type PiiType, piiDetectors } from './pii/detectors.ts'
import { type FindPhones, libraryPhoneDetector } from './pii/library-phones.ts'
import { hashOf, maskOf } from './pii/masking.ts'
import { type PiiVault, type Placeholders, PlaceholderVaults } from './placeholders.ts'
import { restoreJson } from './restore-json.ts'
import { checkRunner, type FailureOptions, failureOptions, failurePolicy, handleFailure } from './run-check.ts'
import { dropMetadata, filterStream, type TextFilter } from './stream-filter.ts'
import { mapMessage, mapResult, replaceIn, type Unchanged } from './texts.ts'
import { matchesToolName } from './tool-names.ts'

/** What happens to a value: it becomes a placeholder that tools can restore, it is masked, it is hashed, or the turn is blocked. */
export type PiiStrategy = 'redact' | 'mask' | 'hash' | 'block'

export interface PiiOptions<Name extends string = string> extends FailureOptions {
  /** The types that are found. @default all */
  types?: readonly PiiType[] | undefined
  /** Additional detectors; placeholders are named after their type. */
  detectors?: readonly DetectorOptions[] | undefined
  /** What happens to values, for all types or per type. @default 'redact' */
  strategy?: PiiStrategy | Readonly<Record<string, PiiStrategy>> | undefined
  /** Which texts are checked. @default ['input', 'output', 'toolResults'] */
  apply?: readonly GuardTarget[] | undefined
  /** The tools that receive the real values in their arguments, by name; `*` matches any text. @default ['*'] */
  restore?: readonly string[] | undefined
  /**
   * What the run's own reader sees in place of placeholders: the values from the input (`own`), also those of the tools and
   * the model (`all`), or none. The history, logs and the model always contain placeholders. @default 'own'
   */
  display?: 'own' | 'all' | 'none' | undefined
  /** `findPhoneNumbersInText` of libphonenumber-js. It also finds national formats of these countries. @default none */
  phones?: { find: FindPhones; countries?: readonly string[] }
  /** Values that are public. If the agent's instructions are a text, values in them are public too. */
  allow?: readonly (string | RegExp)[] | undefined
  /**
   * Stores the values of placeholders outside of this process. @default that of the agent's store, else in memory, for the last 10,000
   * sessions and a day
   */
  vault?: PiiVault | undefined
  /** The secret for `'hash'`. Set it to get the same hashes in all sessions. @default a random one for each session, stored in its state */
  hashKey?: string | undefined
  /** The name of the layers, and the prefix of the state key. @default 'guard:pii' */
  as?: Name | undefined
}

const strategyOption = option.oneOf('redact', 'mask', 'hash', 'block')
const readOptions = layerOptions<PiiOptions>('guard:pii', {
  types: option.list(option.any),
  detectors: option.list(option.any),
  strategy: option.either(strategyOption, option.record(strategyOption)),
  apply: option.list(option.oneOf('input', 'output', 'toolResults')),
  restore: option.list(option.text),
  display: option.oneOf('own', 'all', 'none'),
  phones: option.shape<NonNullable<PiiOptions['phones']>>({
    find: option.required(option.fn),
    countries: option.list(option.text),
  }),
  allow: option.list(option.either(option.text, option.pattern)),
  vault: option.object,
  hashKey: option.secret,
  ...failureOptions,
})

/**
 * Keeps personal data and API keys from the model, the history, logs and readers, while tools still receive them.
 *
 * An address becomes `[EMAIL_1]` in the input, in tool results and in answers, even if it is split across chunks. If the model calls
 * a tool with `[EMAIL_1]`, the tool receives the address. If it answers with it, the reader receives the address. It creates two
 * layers: one around the turn, for the input, and one directly around the model and the tools, so that no other layer sees the
 * values. Register it outside of logs and stores, and before policies and approvals, which then see the arguments that tools receive.
 *
 * @throws AlliumError `layer.config` for an invalid detector
 * @example
 * agent.use(guard.pii())
 */
export function pii<Name extends string = 'guard:pii'>(
  options: PiiOptions<Name> = {},
): readonly [TypedMiddleware<FindingState<Name>>, TypedMiddleware<{}>] {
  const {
    types = Object.keys(piiDetectors) as PiiType[],
    detectors: customDetectors = [],
    strategy = 'redact',
    apply = ['input', 'output', 'toolResults'],
    restore = ['*'],
    display = 'own',
    phones,
    allow = [],
    vault,
    hashKey,
    as = 'guard:pii' as Name,
    ...failure
  } = readOptions(options)
  const detectors: Detector[] = [
    ...customDetectors.map(customDetector),
    ...types.flatMap(builtInDetectors),
    ...(phones !== undefined && types.includes('phone') ? [libraryPhoneDetector(phones.find, phones.countries)] : []),
  ]
  const piiTypes = new Set(detectors.map(({ type }) => type))
  const guard = failurePolicy(as, failure)
  const generated = generatedSecret(as)
  const needsSecret = hashKey === undefined && (strategy === 'hash' || Object.values(strategy).includes('hash'))
  const vaults = new PlaceholderVaults(as, vault)
  const cache: CleanCache = { clean: new WeakSet(), unchanged: new WeakMap(), recent: new WeakMap() }
  /** Waits only for a custom vault. */
  const runGuarded = checkRunner((ctx: Pick<TurnContext, 'find'>) => vaults.vaultFor(ctx) !== undefined)
  const stateKey = `${as}:found`
  type Ctx = TurnContext<Record<string, unknown>>

  const turnLayer = defineMiddleware<Record<string, unknown>>({
    name: as,
    order: { is: ['redacts'] },
    inherit: true,
    state: { [stateKey]: sum(), ...(needsSecret && generated.state) },
    async display(ctx) {
      const placeholders = display === 'none' ? undefined : await vaults.read(ctx)
      return placeholders && ((text) => placeholders.reveal(text, piiTypes, display as 'own' | 'all'))
    },
    async turn(ctx, next) {
      if (needsSecret) await generated.ensure(ctx)
      const placeholders = await runGuarded(ctx, guard, () => vaults.get(ctx, { isNewTurn: true }))
      if (placeholders !== undefined && display !== 'none')
        ctx.onDisplay(() => placeholders.displayTransform(piiTypes, display))
      if (apply.includes('input')) ctx.onInput((message, about) => cleanInput(about.ctx as Ctx, message))
      return next()
    },
  })
  const callLayer = defineMiddleware<Record<string, unknown>>({
    name: `${as}:calls`,
    // Observing layers must see redacted answers and placeholders, even if they are innermost themselves.
    order: { is: ['mutates'], inside: ['observes', 'records'] },
    innermost: true,
    inherit: true,
    async model(ctx, next) {
      if (apply.includes('input'))
        await runGuarded(ctx, guard, () =>
          withPlaceholders(ctx, 'input', ({ filterText: whole }) => cleanMessages(ctx, whole, cache)),
        )
      if (!apply.includes('output')) return next()
      const changedKinds = new Set<string>()
      const placeholders = await runGuarded(ctx, guard, () => vaults.get(ctx))
      if (placeholders === undefined) return next()
      const filter = createFilter(ctx, placeholders, 'output')
      ctx.pipe(
        filterStream(
          filter,
          (error) => handleFailure(ctx, guard, error),
          (kind) => changedKinds.add(kind),
        ),
      )
      try {
        const response = await next()
        response.message = dropMetadata(response.message, changedKinds)
        return response
      } finally {
        await runGuarded(ctx, guard, () => placeholders.save(writerOf(ctx)))
      }
    },
    async tool(ctx, next) {
      const { args } = ctx
      const restored = await runGuarded(ctx, guard, () => restoreArgs(ctx, args))
      if (typeof restored === 'string') return ctx.deny(restored)
      const result = await next()
      if (restored === true) ctx.modifyArgs(() => args, { show: true }) // for outer layers that read the arguments on the way out
      if (result.status === 'suspended' || !apply.includes('toolResults')) return result
      const clean = () => withPlaceholders(ctx, 'toolResults', ({ filterText: whole }) => cleanResult(result, whole))
      return (await runGuarded(ctx, guard, clean)) ?? result
    },
  })
  return [withState<FindingState<Name>>(turnLayer), withState<{}>(callLayer)]

  /** The principal's own values: its reader may see them again. */
  async function cleanInput(ctx: Ctx, message: Message): Promise<Message> {
    const clean = () =>
      withPlaceholders(
        ctx,
        'input',
        ({ filterText: whole }) => mapMessage(message, whole, new WeakMap()),
        message.role === 'user',
      )
    return (await runGuarded(ctx, guard, clean)) ?? message
  }

  /** Loads the session's placeholders, runs the work, and saves new ones. */
  async function withPlaceholders<T>(
    ctx: Ctx,
    target: GuardTarget,
    work: (filter: TextFilter) => Promise<T>,
    isFromInput = false,
  ): Promise<T> {
    const placeholders = await vaults.get(ctx)
    const result = await work(createFilter(ctx, placeholders, target, isFromInput))
    await placeholders.save(writerOf(ctx))
    return result
  }

  function createFilter(ctx: Ctx, placeholders: Placeholders, target: GuardTarget, isFromInput = false): TextFilter {
    const isPublic = publicValueTest(ctx)
    const replace = (finding: Finding, isNumber?: boolean): string | Promise<string> => {
      const { type, text, value } = finding
      if (isPublic(value)) return text
      const action = typeof strategy === 'string' ? strategy : (strategy[type] ?? 'redact')
      ctx.state[stateKey] = 1
      emitFound(ctx, { layer: as, where: target, found: type, action })
      switch (action) {
        case 'block':
          return ctx.block(
            `"${as}" found a value of the type "${type}" in the ${targetNames[target]}.`,
            blockOptions('guard.pii', guard),
          )
        case 'mask':
          return maskOf(type, value)
        case 'hash':
          return hashOf(hashKey ?? generated.get(ctx), type, value)
        case 'redact':
          return placeholders.placeholderFor(type, value, { isOwn: isFromInput, isNumber })
      }
    }
    /** Text that was cleaned for the history is sent to the model right after, so recent texts are cached. */
    const filterText = async (text: string, isNumber?: boolean) => {
      const recent = cache.recent.get(ctx.agent) ?? []
      if (recent.includes(text)) return text
      const cleaned = await replaceIn(text, detectors, (found) => replace(found, isNumber))
      cache.recent.set(ctx.agent, [cleaned, ...recent.slice(0, 7)])
      return cleaned
    }
    return { detectors, replace, filterText }
  }

  function publicValueTest({ agent }: Pick<Ctx, 'agent'>): (value: string) => boolean {
    const instructions = agent.instructions ?? ''
    return (value) =>
      instructions.includes(value) ||
      allow.some((entry) =>
        typeof entry === 'string' ? entry.toLowerCase() === value.toLowerCase() : value.search(entry) >= 0,
      )
  }

  /** Returns whether values were put into the arguments; or why the call is refused: a placeholder does not exist or has lost its value. */
  async function restoreArgs(ctx: ToolContext, args: ToolContext['args']): Promise<boolean | string> {
    if (!matchesToolName(restore, ctx.tool.name)) return false
    const placeholders = await vaults.get(ctx)
    const unknownNames = new Set<string>()
    const restored = restoreJson(
      args,
      (text) => placeholders.restore(text, piiTypes, (name) => unknownNames.add(name)),
      (name) => placeholders.isNumber(name),
    )
    if (unknownNames.size > 0)
      return `Nobody knows what ${[...unknownNames].join(', ')} stands for. Ask the user for it.`
    if (restored !== args) ctx.modifyArgs(() => restored, { show: false })
    return restored !== args
  }

  function customDetector(options: DetectorOptions): Detector {
    const detector = createDetector(as, options)
    if (/^[a-z][a-z0-9_]{0,40}$/.test(detector.type)) return detector
    throw misconfigured(
      as,
      `has a detector "${detector.type}". It names placeholders: use lower-case letters, digits and "_".`,
    )
  }

  function builtInDetectors(type: PiiType): readonly Detector[] {
    const detectors = piiDetectors[type]
    if (detectors !== undefined) return detectors
    throw misconfigured(as, `knows no type "${type}". Its types: ${Object.keys(piiDetectors).join(', ')}.`)
  }
}

/** Cleans the model's input, except instructions, which the developer wrote. */
async function cleanMessages(
  ctx: ModelContext,
  filterText: TextFilter['filterText'],
  cache: CleanCache,
): Promise<void> {
  const messages: Message[] = []
  const original = ctx.request.messages
  for (const message of original as readonly Message[]) {
    const isClean = message.role === 'system' || cache.clean.has(message)
    const mapped = isClean ? message : await mapMessage(message, filterText, cache.unchanged)
    if (!isClean && mapped === message && isDeepFrozen(message)) cache.clean.add(message)
    messages.push(mapped)
  }
  if (messages.some((message, i) => message !== original[i])) ctx.messages = messages
}

/** Content in which the layer found nothing. */
interface CleanCache {
  /** Immutable messages. */
  readonly clean: WeakSet<object>
  readonly unchanged: Unchanged
  /** The last cleaned texts, by agent. */
  readonly recent: WeakMap<object, readonly string[]>
}

/** Errors are logged, so they are cleaned as well. */
async function cleanResult(result: ToolResult, filterText: TextFilter['filterText']): Promise<ToolResult> {
  const cleaned = await mapResult(result, filterText)
  const { error } = result
  const mapped = error === undefined ? undefined : await mapThrown(error, async (text) => filterText(text))
  return mapped === error ? cleaned : { ...cleaned, error: mapped }
}
