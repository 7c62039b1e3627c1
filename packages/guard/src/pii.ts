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
import type { FoundState } from './content.ts'
import { type FailureOptions, failed, failing, failureOptions, waitingWhere } from './decide.ts'
import { type DetectorOptions, detectorOf } from './detector.ts'
import { drawnSecret } from './drawn-secret.ts'
import { ending } from './ending.ts'
import { tellFound, type Where, wordFor } from './found.ts'
import { isDeepFrozen } from './frozen.ts'
import { mapThrown } from './map-error.ts'
import { type PiiType, piiDetectors } from './pii/detectors.ts'
import { hashOf, maskOf } from './pii/forms.ts'
import { type FindPhones, phonesBy } from './pii/phone-library.ts'
import { restoreJson } from './restore-json.ts'
import { dropMetadata, filterStream, type TextFilter } from './stream-filter.ts'
import { mapMessage, mapResult, replaceIn, type Unchanged } from './texts.ts'
import { namesTool } from './tool-names.ts'
import { OpenVaults, type PiiVault, type Placeholders } from './vault.ts'

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
  apply?: readonly Where[] | undefined
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

const strategies = option.oneOf('redact', 'mask', 'hash', 'block')
const readOptions = layerOptions<PiiOptions>('guard:pii', {
  types: option.list(option.any),
  detectors: option.list(option.any),
  strategy: option.either(strategies, option.record(strategies)),
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
  given: PiiOptions<Name> = {},
): readonly [TypedMiddleware<FoundState<Name>>, TypedMiddleware<{}>] {
  const {
    types = Object.keys(piiDetectors) as PiiType[],
    detectors: more = [],
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
  } = readOptions(given)
  const detectors: Detector[] = [
    ...more.map(ownDetector),
    ...types.flatMap(builtIn),
    ...(phones !== undefined && types.includes('phone') ? [phonesBy(phones.find, phones.countries)] : []),
  ]
  const kinds = new Set(detectors.map(({ type }) => type))
  const guard = failing(as, failure)
  const drawn = drawnSecret(as)
  const draws = hashKey === undefined && (strategy === 'hash' || Object.values(strategy).includes('hash'))
  const vaults = new OpenVaults(as, vault)
  const known: Known = { clean: new WeakSet(), unchanged: new WeakMap(), recent: new WeakMap() }
  /** A vault of one's own is waited for. */
  const ask = waitingWhere((ctx: Pick<TurnContext, 'find'>) => vaults.vaultOf(ctx) !== undefined)
  const stateKey = `${as}:found`
  type Ctx = TurnContext<Record<string, unknown>>

  const ofTurn = defineMiddleware<Record<string, unknown>>({
    name: as,
    order: { is: ['redacts'] },
    inherit: true,
    state: { [stateKey]: sum(), ...(draws && drawn.state) },
    async shows(ctx) {
      const names = show === 'none' ? undefined : await vaults.read(ctx)
      return names && ((text) => names.show(text, kinds, show as 'own' | 'all'))
    },
    async turn(ctx, next) {
      if (draws) await drawn.draw(ctx)
      const names = await ask(ctx, guard, () => vaults.of(ctx, { isNewTurn: true }))
      if (names !== undefined && show !== 'none') ctx.onShow(() => names.shown(kinds, show))
      if (apply.includes('input')) ctx.onInput((message, about) => cleanInput(about.ctx as Ctx, message))
      return next()
    },
  })
  const ofCalls = defineMiddleware<Record<string, unknown>>({
    name: `${as}:calls`,
    // What observes must see redacted answers and placeholders, also where it is innermost itself.
    order: { is: ['mutates'], inside: ['observes', 'records'] },
    innermost: true,
    inherit: true,
    async model(ctx, next) {
      if (apply.includes('input'))
        await ask(ctx, guard, () => within(ctx, 'input', ({ whole }) => cleanMessages(ctx, whole, known)))
      if (!apply.includes('output')) return next()
      const kinds = new Set<string>()
      const names = await ask(ctx, guard, () => vaults.of(ctx))
      if (names === undefined) return next()
      const filter = filterOf(ctx, names, 'output')
      ctx.pipe(
        filterStream(
          filter,
          (error) => failed(ctx, guard, error),
          (kind) => kinds.add(kind),
        ),
      )
      try {
        const response = await next()
        response.message = dropMetadata(response.message, kinds)
        return response
      } finally {
        await ask(ctx, guard, () => names.save(writerOf(ctx)))
      }
    },
    async tool(ctx, next) {
      const { args } = ctx
      const restored = await ask(ctx, guard, () => restoreArgs(ctx, args))
      if (typeof restored === 'string') return ctx.deny(restored)
      const result = await next()
      if (restored === true) ctx.modifyArgs(() => args, { show: true }) // for layers outside that read them on the way out
      if (result.status === 'suspended' || !apply.includes('toolResults')) return result
      const clean = () => within(ctx, 'toolResults', ({ whole }) => cleanResult(result, whole))
      return (await ask(ctx, guard, clean)) ?? result
    },
  })
  return [withState<FoundState<Name>>(ofTurn), withState<{}>(ofCalls)]

  /** What the principal says is its own: its reader may see it again. */
  async function cleanInput(ctx: Ctx, message: Message): Promise<Message> {
    const clean = () =>
      within(ctx, 'input', ({ whole }) => mapMessage(message, whole, new WeakMap()), message.role === 'user')
    return (await ask(ctx, guard, clean)) ?? message
  }

  /** Opens the placeholders of the session, and keeps those that are new. */
  async function within<T>(
    ctx: Ctx,
    where: Where,
    work: (filter: TextFilter) => Promise<T>,
    isOwn = false,
  ): Promise<T> {
    const names = await vaults.of(ctx)
    const done = await work(filterOf(ctx, names, where, isOwn))
    await names.save(writerOf(ctx))
    return done
  }

  function filterOf(ctx: Ctx, names: Placeholders, where: Where, isOwn = false): TextFilter {
    const isPublic = publicValues(ctx)
    const replace = (found: Finding, isNumber?: boolean): string | Promise<string> => {
      const { type, text, value } = found
      if (isPublic(value)) return text
      const action = typeof strategy === 'string' ? strategy : (strategy[type] ?? 'redact')
      ctx.state[stateKey] = 1
      tellFound(ctx, { layer: as, where, found: type, action })
      switch (action) {
        case 'block':
          return ctx.block(
            `"${as}" found a value of the type "${type}" in the ${wordFor[where]}.`,
            ending('guard.pii', guard),
          )
        case 'mask':
          return maskOf(type, value)
        case 'hash':
          return hashOf(hashKey ?? drawn.of(ctx), type, value)
        case 'redact':
          return names.nameOf(type, value, { isOwn, isNumber })
      }
    }
    /** What was cleaned for the history is sent to the model right after. */
    const whole = async (text: string, isNumber?: boolean) => {
      const recent = known.recent.get(ctx.agent) ?? []
      if (recent.includes(text)) return text
      const cleaned = await replaceIn(text, detectors, (found) => replace(found, isNumber))
      known.recent.set(ctx.agent, [cleaned, ...recent.slice(0, 7)])
      return cleaned
    }
    return { detectors, replace, whole }
  }

  function publicValues({ agent }: Pick<Ctx, 'agent'>): (value: string) => boolean {
    const instructions = agent.instructions ?? ''
    return (value) =>
      instructions.includes(value) ||
      allow.some((one) =>
        typeof one === 'string' ? one.toLowerCase() === value.toLowerCase() : value.search(one) >= 0,
      )
  }

  /** Whether values were put into the arguments; or why the call is refused: a placeholder was made up, or its value is gone. */
  async function restoreArgs(ctx: ToolContext, args: ToolContext['args']): Promise<boolean | string> {
    if (!namesTool(restore, ctx.tool.name)) return false
    const names = await vaults.of(ctx)
    const unknown = new Set<string>()
    const restored = restoreJson(
      args,
      (text) => names.restore(text, kinds, (name) => unknown.add(name)),
      (name) => names.isNumber(name),
    )
    if (unknown.size > 0) return `Nobody knows what ${[...unknown].join(', ')} stands for. Ask the user for it.`
    if (restored !== args) ctx.modifyArgs(() => restored, { show: false })
    return restored !== args
  }

  function ownDetector(options: DetectorOptions): Detector {
    const detector = detectorOf(as, options)
    if (/^[a-z][a-z0-9_]{0,40}$/.test(detector.type)) return detector
    throw misconfigured(
      as,
      `has a detector "${detector.type}". Its type names placeholders: use lower-case letters, digits and "_".`,
    )
  }

  function builtIn(type: PiiType): readonly Detector[] {
    const detectors = piiDetectors[type]
    if (detectors !== undefined) return detectors
    throw misconfigured(as, `knows no type "${type}". Its types: ${Object.keys(piiDetectors).join(', ')}.`)
  }
}

/** What the model is sent, but for instructions, which are the developer's. */
async function cleanMessages(ctx: ModelContext, whole: TextFilter['whole'], known: Known): Promise<void> {
  const messages: Message[] = []
  const before = ctx.request.messages
  for (const message of before as readonly Message[]) {
    const isKnown = message.role === 'system' || known.clean.has(message)
    const mapped = isKnown ? message : await mapMessage(message, whole, known.unchanged)
    if (!isKnown && mapped === message && isDeepFrozen(message)) known.clean.add(message)
    messages.push(mapped)
  }
  if (messages.some((message, i) => message !== before[i])) ctx.messages = messages
}

/** What a layer has found nothing in. */
interface Known {
  /** Messages that cannot change any more. */
  readonly clean: WeakSet<object>
  readonly unchanged: Unchanged
  /** The last texts that were cleaned, as they are now, by agent. */
  readonly recent: WeakMap<object, readonly string[]>
}

/** What was thrown goes to logs: it is cleaned as well. */
async function cleanResult(result: ToolResult, whole: TextFilter['whole']): Promise<ToolResult> {
  const cleaned = await mapResult(result, whole)
  const { error } = result
  const mapped = error === undefined ? undefined : await mapThrown(error, async (text) => whole(text))
  return mapped === error ? cleaned : { ...cleaned, error: mapped }
}
