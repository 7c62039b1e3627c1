import {
  type AnyTool,
  defineMiddleware,
  type FlowLabels,
  layerOptions,
  type Message,
  type ModelContext,
  type ModelRef,
  type ModelResponse,
  misconfigured,
  option,
  type ToolContext,
  type ToolDef,
  type ToolResult,
  type TurnContext,
  type TurnPlan,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import { adds, type FlowSource, type Labels, labelled, tell, union } from './flow/labels.ts'
import { hostsOf } from './flow/links.ts'
import { checkQuarantine, type Quarantine, readerOf } from './flow/quarantine.ts'
import { inMessage, isAttachment, Scanner } from './flow/scan.ts'
import { isOwn, type Own, type Sink, sinkOf, unknown } from './flow/sinks.ts'
import { behind, type ShownText } from './flow/text-stream.ts'
import { type Form, unlinked } from './flow/unlinked.ts'
import { dropMetadata } from './stream-filter.ts'

export type { FlowSource, Labels as FlowState } from './flow/labels.ts'

export interface FlowOptions<Name extends string = string> {
  /** What becomes of a call that would send or write what it may not unasked. @default 'ask' */
  onSink?: 'ask' | 'deny' | undefined
  /** The addresses of a principal: a send that reaches these alone is none. @default none */
  own?: Own | undefined
  /** Hosts that links and images of answers may lead to; `*.example.com` stands for what is below it. @default none */
  links?: readonly string[] | undefined
  /** What stored messages are that have no labels. @default 'untrusted' */
  unlabelled?: 'untrusted' | 'trusted' | undefined
  /** Results that a model without tools reads into closed types, by the tool's name: what comes out is not untrusted any more. @default none */
  quarantine?: Quarantine | undefined
  /** The model that reads in quarantine. */
  reader?: ModelRef | undefined
  /** Milliseconds after which a call that waits can only be denied. @default the agent's `approvals.expiresIn` */
  expiresIn?: number | undefined
  /** The layer's name, and how its state key begins. @default 'guard:flow' */
  as?: Name | undefined
}

/** The layer has asked for a call, denied it, hidden a tool, or taken links out of an answer. */
export interface FlowEvent {
  type: 'guard:flow'
  layer: string
  action: 'ask' | 'deny' | 'hide' | 'remove'
  tool?: string
  callId?: string
  untrusted?: FlowSource
  private?: FlowSource
}

type State<Name extends string> = Record<`${Name}:labels`, Labels | null>

const readOptions = layerOptions<FlowOptions>('guard:flow', {
  onSink: option.oneOf('ask', 'deny'),
  own: option.fn,
  links: option.list(option.text),
  unlabelled: option.oneOf('untrusted', 'trusted'),
  quarantine: option.object,
  reader: option.any,
  expiresIn: option.number({ above: 0 }),
})

/**
 * Follows what comes in through tools: where text from outside and private text are in one conversation, nothing is sent
 * unasked, and after text from outside nothing is written unasked. A person is asked, and told the sources.
 *
 * For agents that read what others write. It holds for what tools declare (`flow`), whatever the text says: an agent with a
 * tool that declares nothing does not start. Register it anywhere: it stands right around the model and the tools.
 *
 * @throws AlliumError `layer.config` for a quarantine that could let text through; `tool.invalid` at init() for a tool without `flow`
 * @example
 * agent.use(guard.flow({ own: (principal) => [principal.email] }))
 */
export function flow<Name extends string = 'guard:flow'>(given: FlowOptions<Name> = {}): TypedMiddleware<State<Name>> {
  const {
    onSink = 'ask',
    own,
    links = [],
    unlabelled = 'untrusted',
    quarantine = {},
    reader,
    expiresIn,
    as = 'guard:flow' as Name,
  }: FlowOptions<Name> = readOptions(given)
  checkQuarantine(as, quarantine)
  if (Object.keys(quarantine).length > 0 && reader === undefined)
    throw misconfigured(as, 'needs the option reader: the model that reads in quarantine.')
  const read = reader === undefined ? undefined : readerOf(as, reader)
  const key = `${as}:labels`
  const may = hostsOf(links)
  const scanner = new Scanner()
  const specials = new WeakMap<TurnPlan['tools'], Special>()
  /** The labels of the model call that made a tool call, by the record of its turn. */
  const calls = new WeakMap<object, Map<string, Labels>>()
  /** What turns have shown so far, by their records. */
  const shown = new WeakMap<object, ShownText>()
  /** Histories by their first message, and how long they were when their labels were last written. */
  const lengths = new WeakMap<object, number>()
  /** Labels that this process has seen, so that a history that was put in place of theirs is told from one with its own. */
  const seen = new WeakSet<object>()

  const layer = defineMiddleware<Record<string, Labels | null>>({
    name: as,
    order: { is: ['authorizes', 'asks'] },
    innermost: true,
    inherit: true,
    admits: (tool) => refusal(tool),
    state: { [key]: { default: null, reducer: (known, more) => union(known ?? {}, more ?? {}) } },
    turn(ctx, next) {
      begin(ctx)
      ctx.onInput((message, about) => noteGiven(about.ctx as typeof ctx, message))
      ctx.onEnd(() => pair(ctx))
      return next()
    },
    async model(ctx, next) {
      const { plan } = ctx
      const special = specialIn(plan)
      const found = scanner.labelsOf(ctx.request.messages, plan)
      const known = note(ctx, special.listed.length === 0 ? found : union(found, listings(special, plan)))
      const inside = withProvider(ctx, plan, known)
      const changed = new Set<string>()
      const isClean = inside.untrusted !== undefined && inside.private !== undefined
      const before = shown.get(ctx.metadata)
      if (isClean) ctx.pipe(unlinked(may, { ...formOf(ctx, plan), before }, (kind) => changed.add(kind)))
      const response = await next()
      if (response.text !== '') shown.set(ctx.metadata, behind(before, { text: response.text, isClean }))
      remember(ctx, response, note(ctx, inMessage(response.message, plan), known))
      if (changed.size === 0) return response
      tellEvent(ctx, { action: 'remove', ...inside })
      response.message = dropMetadata(response.message, changed)
      return response
    },
    async tool(ctx, next) {
      const declared = ctx.tool.flow ?? unknown
      const labels = calls.get(ctx.metadata)?.get(ctx.callId) ?? current(ctx)
      const sink = await sinkFor(ctx, declared, labels)
      if (sink !== undefined) {
        const refused = decided(ctx, sink, labels)
        if (refused !== undefined) return refused
      }
      const result = await next()
      return result.status === 'suspended' ? result : noteResult(ctx, declared, result)
    },
  })
  return withState<State<Name>>(layer)

  function begin(ctx: TurnContext<Record<string, Labels | null>>): void {
    const { history } = ctx
    const labels = ctx.state[key] ?? null
    const [first] = history
    const isNew = labels === null ? first !== undefined : first !== undefined && seen.has(labels) && isOther(history)
    const from: Labels = isNew && unlabelled === 'untrusted' ? { untrusted: { kind: 'history' } } : {}
    if (labels === null || adds(labels, from)) ctx.state[key] = from
    pair(ctx)
  }

  /** Whether a history has been put in the place of the one that the labels are of, or answers were added that no run gave. */
  function isOther(history: readonly Readonly<Message>[]): boolean {
    const length = lengths.get(history[0] as object)
    return length === undefined || history.slice(length).some(({ role }) => role === 'assistant')
  }

  function pair(ctx: TurnContext<Record<string, Labels | null>>): void {
    const [labels, first] = [ctx.state[key], ctx.history[0]]
    if (labels != null) seen.add(labels)
    if (first !== undefined) lengths.set(first, ctx.history.length)
  }

  /** What the principal gives is the principal's; answers and results that come with it may be anybody's, and so may files. */
  function noteGiven(ctx: WithState, { role, content }: Message): void {
    if (role === 'assistant' || role === 'tool') note(ctx, { untrusted: { kind: 'input' } })
    else if (typeof content !== 'string' && content.some(isAttachment)) note(ctx, { untrusted: { kind: 'attachment' } })
  }

  /** Adds to what is known of the session; gives all of it, or all beside what was known before. */
  function note(ctx: WithState, more: Labels, before: Labels = ctx.state[key] ?? {}): Labels {
    const known = ctx.state[key]
    if (known == null || adds(known, more)) ctx.state[key] = more
    return adds(before, more) ? union(before, more) : before
  }

  function current(ctx: ToolContext<Record<string, Labels | null>>): Labels {
    return note(ctx, scanner.labelsOf(ctx.messages, ctx.plan))
  }

  function specialIn({ tools, flowOf }: TurnPlan): Special {
    const known = specials.get(tools)
    if (known !== undefined) return known
    const names = tools.map(({ name }) => name)
    const made = {
      listed: names.filter((name) => flowOf(name)?.changed !== undefined),
    }
    specials.set(tools, made)
    return made
  }

  /** A call of a model that the provider runs tools for may bring in what these do, and lets out what was there before. */
  function withProvider(ctx: ModelContext<Record<string, Labels | null>>, plan: TurnPlan, before: Labels): Labels {
    const theirs = ctx.request.tools.filter((def) => isTheirs(def, plan))
    if (theirs.length === 0) return before
    const inside = theirs.reduce(
      (labels, { name }) => union(labels, labelled(plan.flowOf(name) ?? unknown, { kind: 'tool', tool: name })),
      before,
    )
    for (const { name } of theirs) {
      if (sinkOf(plan.flowOf(name) ?? unknown, inside) === undefined) continue
      ctx.removeTools(name)
      const { toolChoice } = ctx
      if (typeof toolChoice === 'object' && toolChoice.name === name) ctx.toolChoice = 'auto'
      tellEvent(ctx, { action: 'hide', tool: name, ...inside })
    }
    return inside
  }

  function remember(ctx: ModelContext, { toolCalls }: ModelResponse, labels: Labels): void {
    if (toolCalls.length === 0) return
    const known = calls.get(ctx.metadata) ?? new Map<string, Labels>()
    calls.set(ctx.metadata, known)
    for (const { callId } of toolCalls) known.set(callId, union(known.get(callId) ?? {}, labels))
  }

  /** Whether the call does what needs a question; a send to the principal alone does not. */
  async function sinkFor(ctx: ToolContext, declared: typeof unknown, labels: Labels): Promise<Sink | undefined> {
    const sink = sinkOf(declared, labels)
    if (sink?.sends !== true || !(await isOwn(ctx, own))) return sink
    return sink.writes ? { sends: false, writes: true } : undefined
  }

  /** The result of a call that does not run; undefined where a person has been asked about it, by this layer, and has approved. */
  function decided(ctx: ToolContext, sink: Sink, labels: Labels): ToolResult | undefined {
    const { name } = ctx.tool
    if (ctx.invalid !== undefined)
      return ctx.skipCall({ content: ctx.invalid.map(({ message }) => message).join('\n'), isError: true, flow: {} })
    const approval = ctx.asked?.by === as ? ctx.approval : undefined
    if (approval !== undefined) {
      if ('deny' in approval) return ctx.deny(approval.deny)
      if ('args' in approval) {
        const { args } = approval
        ctx.modifyArgs(() => args)
      }
      return undefined
    }
    tellEvent(ctx, { action: onSink, tool: name, callId: ctx.callId, ...labels })
    const does = sink.sends ? (sink.writes ? 'send and write' : 'send') : 'write'
    const reason = `The tool "${name}" would ${does} while the conversation holds ${tell(labels)}, which may have asked for this.`
    if (onSink === 'deny') return ctx.deny(reason)
    return ctx.suspend({ reason, sources: { ...labels }, ...(expiresIn !== undefined && { expiresIn }) })
  }

  async function noteResult(
    ctx: ToolContext<Record<string, Labels | null>>,
    declared: FlowLabels,
    result: ToolResult,
  ): Promise<ToolResult> {
    if (result.status === 'denied') return result
    // The call was refused before any tool ran: all that its result says is about what the model wrote.
    if (ctx.invalid !== undefined && result.status === 'error') return { ...result, flow: result.flow ?? {} }
    const { name } = ctx.tool
    const whole = ctx.plan.flowOf(name)
    const handsOn = whole !== undefined && whole !== ctx.tool.flow
    // What an agent brings in that really ran has been noted where it came in.
    const flow = both(handsOn && result.status === 'skipped' ? whole : declared, result.flow)
    const schema = Object.hasOwn(quarantine, name) ? quarantine[name] : undefined
    if (schema !== undefined && read !== undefined && flow.untrusted === true) {
      const left = await read(ctx, { ...result, flow }, schema)
      note(ctx, labelled(left.flow ?? {}, { kind: 'tool', tool: name, callId: ctx.callId }))
      return left
    }
    note(ctx, labelled(flow, { kind: 'tool', tool: name, callId: ctx.callId }))
    return handsOn || result.flow !== undefined ? { ...result, flow } : result
  }

  /** Why an agent may not have a tool: nothing could be promised. */
  function refusal({ name, flow: declared, execute, providerExecuted }: AnyTool): string | undefined {
    if (declared === undefined)
      return `it does not say what it brings in and lets out. Declare flow: { untrusted?, private?, sends?, writes? } in "${name}", or flow: {} where it does none of that.`
    if (execute !== undefined || providerExecuted === undefined) return undefined
    const source: FlowSource = { kind: 'tool', tool: name }
    return sinkOf(declared, labelled(declared, source)) === undefined
      ? undefined
      : 'the provider runs it, so that nobody could be asked, and one call of it could bring in what the next lets out. Leave it out, or give it an execute that runs it here.'
  }

  function tellEvent(ctx: TurnContext, event: Omit<FlowEvent, 'type' | 'layer'>): void {
    ctx.emit({ type: 'guard:flow', layer: as, ...event })
  }
}

/** Whether the provider runs a tool, also one that a layer has added or renamed, of which nothing is known. */
function isTheirs({ name, providerExecuted }: ToolDef, plan: TurnPlan): boolean {
  return providerExecuted !== undefined && (plan.runsAtProvider(name) || !plan.tools.some((def) => def.name === name))
}

function formOf({ request }: ModelContext, { answerTool }: TurnPlan): Form {
  return { answerTool, isJson: request.responseFormat.type === 'json' }
}

/** The tools of an agent whose listing may change. */
interface Special {
  readonly listed: readonly string[]
}

type WithState = { state: Record<string, Labels | null> }

function both(first: FlowLabels, more: FlowLabels = {}): FlowLabels {
  const [untrusted, secret] = [
    first.untrusted === true || more.untrusted === true,
    first.private === true || more.private === true,
  ]
  return { ...(untrusted && { untrusted }), ...(secret && { private: secret }) }
}

/** Tools of servers that say something else of them than what the app has chosen. */
function listings({ listed }: Special, { flowOf }: TurnPlan): Labels {
  for (const name of listed)
    if (flowOf(name)?.changed?.() === true) return { untrusted: { kind: 'listing', tool: name } }
  return {}
}

declare module '@allium/core' {
  interface AgentEvents {
    'guard:flow': FlowEvent
  }
}
