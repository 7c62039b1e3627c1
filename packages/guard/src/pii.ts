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

/** What becomes of a value: a placeholder that tools get the value back for, a part of it, a hash, or the turn is blocked. */
export type PiiStrategy = 'redact' | 'mask' | 'hash' | 'block'

export interface PiiOptions<Name extends string = string> extends FailureOptions {
  /** What it finds. @default all */
  types?: readonly PiiType[] | undefined
  /** Further detectors; their type is what placeholders are named after. */
  detectors?: readonly DetectorOptions[] | undefined
  /** What becomes of values, for all types or by type. @default 'redact' */
  strategy?: PiiStrategy | Readonly<Record<string, PiiStrategy>> | undefined
  /** Where it looks. @default ['input', 'output', 'toolResults'] */
  apply?: readonly GuardTarget[] | undefined
  /** The tools that get the values of placeholders in their arguments, by name; `*` stands for any text. @default ['*'] */
  restore?: readonly string[] | undefined
  /**
   * What the run's own reader sees in place of placeholders: the values that came in with the input, those of the tools and
   * the model too, or none. The history, logs and the model have placeholders in any case. @default 'own'
   */
  show?: 'own' | 'all' | 'none' | undefined
  /** `findPhoneNumbersInText` of libphonenumber-js: it finds the national forms of these countries too. @default none */
  phones?: { find: FindPhones; countries?: readonly string[] }
  /** Values that anybody may see. Those in the agent's instructions are such, where these are a text. */
  allow?: readonly (string | RegExp)[] | undefined
  /** Keeps what placeholders stand for beyond this process. @default that of the agent's store, else in memory, for the last 10,000 sessions and a day */
  vault?: PiiVault | undefined
  /** The secret of `'hash'`. Give one to get the same hashes in all sessions. @default a random one for each session, kept in its state */
  hashKey?: string | undefined
  /** The name of the layers, and how the state key begins. @default 'guard:pii' */
  as?: Name | undefined
}

const strategyOption = option.oneOf('redact', 'mask', 'hash', 'block')
const readOptions = layerOptions<PiiOptions>('guard:pii', {
  types: option.list(option.any),
  detectors: option.list(option.any),
  strategy: option.either(strategyOption, option.record(strategyOption)),
  apply: option.list(option.oneOf('input', 'output', 'toolResults')),
  restore: option.list(option.text),
  show: option.oneOf('own', 'all', 'none'),
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
 * Keeps personal data and keys from the model, the history, logs and readers; tools get them.
 *
 * An address becomes `[EMAIL_1]` in the input, in results of tools and in answers, whatever chunks it comes in; where the
 * model calls a tool with `[EMAIL_1]`, the tool gets the address; where it answers with it, its reader does. It makes two layers: one of the turn, for the input, and one
 * right around the model and the tools, so that no other layer sees values on their way to or from these. Register it
 * outside of logs and stores, and before policies and approvals, which then see what tools get.
 *
 * @throws AlliumError `layer.config` for a detector that is none
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
    show = 'own',
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
  /** A vault of one's own is waited for. */
  const runGuarded = checkRunner((ctx: Pick<TurnContext, 'find'>) => vaults.vaultFor(ctx) !== undefined)
  const stateKey = `${as}:found`
  type Ctx = TurnContext<Record<string, unknown>>

  const turnLayer = defineMiddleware<Record<string, unknown>>({
    name: as,
    order: { is: ['redacts'] },
    inherit: true,
    state: { [stateKey]: sum(), ...(needsSecret && generated.state) },
    async shows(ctx) {
      const placeholders = show === 'none' ? undefined : await vaults.read(ctx)
      return placeholders && ((text) => placeholders.reveal(text, piiTypes, show as 'own' | 'all'))
    },
    async turn(ctx, next) {
      if (needsSecret) await generated.ensure(ctx)
      const placeholders = await runGuarded(ctx, guard, () => vaults.get(ctx, { isNewTurn: true }))
      if (placeholders !== undefined && show !== 'none') ctx.onShow(() => placeholders.displayTransform(piiTypes, show))
      if (apply.includes('input')) ctx.onInput((message, about) => cleanInput(about.ctx as Ctx, message))
      return next()
    },
  })
  const callLayer = defineMiddleware<Record<string, unknown>>({
    name: `${as}:calls`,
    // What observes must see redacted answers and placeholders, also where it is innermost itself.
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
      if (restored === true) ctx.modifyArgs(() => args, { show: true }) // for layers outside that read them on the way out
      if (result.status === 'suspended' || !apply.includes('toolResults')) return result
      const clean = () => withPlaceholders(ctx, 'toolResults', ({ filterText: whole }) => cleanResult(result, whole))
      return (await runGuarded(ctx, guard, clean)) ?? result
    },
  })
  return [withState<FindingState<Name>>(turnLayer), withState<{}>(callLayer)]

  /** What the principal says is its own: its reader may see it again. */
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

  /** Opens the placeholders of the session, and keeps those that are new. */
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
    /** What was cleaned for the history is sent to the model right after. */
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

  /** Whether values were put into the arguments; or why the call is refused: a placeholder was made up, or its value is gone. */
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
      `has a detector "${detector.type}". Its type names placeholders: use lower-case letters, digits and "_".`,
    )
  }

  function builtInDetectors(type: PiiType): readonly Detector[] {
    const detectors = piiDetectors[type]
    if (detectors !== undefined) return detectors
    throw misconfigured(as, `knows no type "${type}". Its types: ${Object.keys(piiDetectors).join(', ')}.`)
  }
}

/** What the model is sent, but for instructions, which are the developer's. */
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

/** What a layer has found nothing in. */
interface CleanCache {
  /** Messages that cannot change any more. */
  readonly clean: WeakSet<object>
  readonly unchanged: Unchanged
  /** The last texts that were cleaned, as they are now, by agent. */
  readonly recent: WeakMap<object, readonly string[]>
}

/** What was thrown goes to logs: it is cleaned as well. */
async function cleanResult(result: ToolResult, filterText: TextFilter['filterText']): Promise<ToolResult> {
  const cleaned = await mapResult(result, filterText)
  const { error } = result
  const mapped = error === undefined ? undefined : await mapThrown(error, async (text) => filterText(text))
  return mapped === error ? cleaned : { ...cleaned, error: mapped }
}
