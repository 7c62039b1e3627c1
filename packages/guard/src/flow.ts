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
  type TypedMiddleware,
  withState,
} from '@allium/core'
import type { TurnPlan } from '@allium/core/internal'
import { isAttachment, LabelScanner, labelsOfMessage } from './flow/label-scanner.ts'
import { describeLabels, type FlowSource, hasNewLabels, type Labels, mergeLabels, toLabels } from './flow/labels.ts'
import { type AnswerFormat, linkFilter } from './flow/link-filter.ts'
import { hostFilter } from './flow/links.ts'
import { checkQuarantine, createReader, type Quarantine } from './flow/quarantine.ts'
import { type ResolveAddresses, reachesOnlyPrincipal, type Sink, sinkOf, unknownFlow } from './flow/sinks.ts'
import { appendDisplayed, type DisplayedText } from './flow/text-stream.ts'
import { dropMetadata } from './stream-filter.ts'

export type { FlowSource, Labels as FlowState } from './flow/labels.ts'

export interface FlowOptions<Name extends string = string> {
  /** What happens to a call that must not send or write without approval. @default 'ask' */
  onSink?: 'ask' | 'deny' | undefined
  /** Returns the principal's addresses. Sending only to these does not count as sending. @default none */
  own?: ResolveAddresses | undefined
  /** Hosts that links and images in answers may lead to; `*.example.com` matches its subdomains. @default none */
  links?: readonly string[] | undefined
  /** How stored messages without labels are treated. @default 'untrusted' */
  unlabelled?: 'untrusted' | 'trusted' | undefined
  /** Results that a model without tools reads into closed types, by tool name. Its output is no longer untrusted. @default none */
  quarantine?: Quarantine | undefined
  /** The model that reads quarantined results. */
  reader?: ModelRef | undefined
  /**
   * How long a pending call can be approved, in milliseconds. After that it can only be denied. @default the agent's `approvals.expiresIn`
   */
  expiresIn?: number | undefined
  /** The layer's name, and the prefix of its state key. @default 'guard:flow' */
  as?: Name | undefined
}

/** The layer asked for approval of a call, denied it, hid a tool, or removed links from an answer. */
export interface FlowEvent {
  type: 'guard:flow'
  layer: string
  action: 'ask' | 'deny' | 'hide' | 'remove'
  tool?: string
  callId?: string
  untrusted?: FlowSource
  private?: FlowSource
}

type FlowStateRecord<Name extends string> = Record<`${Name}:labels`, Labels | null>

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
 * Tracks text that enters through tools. When a conversation contains both untrusted and private text, nothing is sent without
 * approval. After untrusted text, nothing is written without approval. The approver sees the sources.
 *
 * Use it for agents that read text by third parties. It relies on the tools' declarations (`flow`), not on the content of the
 * text. An agent with a tool that declares nothing does not start. Register it anywhere: it always runs directly around the model
 * and the tools.
 *
 * @throws AlliumError `layer.config` for a quarantine that could let text through; `tool.invalid` at init() for a tool without `flow`
 * @example
 * agent.use(guard.flow({ own: (principal) => [principal.email] }))
 */
export function flow<Name extends string = 'guard:flow'>(
  options: FlowOptions<Name> = {},
): TypedMiddleware<FlowStateRecord<Name>> {
  const {
    onSink = 'ask',
    own,
    links = [],
    unlabelled = 'untrusted',
    quarantine = {},
    reader,
    expiresIn,
    as = 'guard:flow' as Name,
  }: FlowOptions<Name> = readOptions(options)
  checkQuarantine(as, quarantine)
  if (Object.keys(quarantine).length > 0 && reader === undefined)
    throw misconfigured(as, 'needs the option reader: the model that reads in quarantine.')
  const readInQuarantine = reader === undefined ? undefined : createReader(as, reader)
  const key = `${as}:labels`
  const isAllowedHost = hostFilter(links)
  const scanner = new LabelScanner()
  const listedTools = new WeakMap<TurnPlan['tools'], ListedTools>()
  /** The labels of the model call that made each tool call, by turn record. */
  const callLabels = new WeakMap<object, Map<string, Labels>>()
  /** The text that turns have shown so far, by turn record. */
  const displayedTexts = new WeakMap<object, DisplayedText>()
  /** Histories by their first message, with their length when their labels were last written. */
  const historyLengths = new WeakMap<object, number>()
  /** Labels that this process has seen. They distinguish a replaced history from one that has its own labels. */
  const knownLabels = new WeakSet<object>()

  const layer = defineMiddleware<Record<string, Labels | null>>({
    name: as,
    order: { is: ['authorizes', 'asks'] },
    innermost: true,
    inherit: true,
    admits: (tool) => rejectReason(tool),
    state: { [key]: { default: null, reducer: (known, added) => mergeLabels(known ?? {}, added ?? {}) } },
    turn(ctx, next) {
      initLabels(ctx)
      ctx.onInput((message, about) => labelInput(about.ctx as typeof ctx, message))
      ctx.onEnd(() => rememberHistory(ctx))
      return next()
    },
    async model(ctx, next) {
      const { plan } = ctx
      const listed = listedToolsOf(plan)
      const found = scanner.labelsOf(ctx.request.messages, plan)
      const known = addLabels(ctx, listed.listed.length === 0 ? found : mergeLabels(found, listingLabels(listed, plan)))
      const labelsInside = labelsWithProviderTools(ctx, plan, known)
      const changedKinds = new Set<string>()
      const mustClean = labelsInside.untrusted !== undefined && labelsInside.private !== undefined
      const displayed = displayedTexts.get(ctx.metadata)
      if (mustClean)
        ctx.pipe(linkFilter(isAllowedHost, { ...answerFormat(ctx, plan), displayed }, (kind) => changedKinds.add(kind)))
      const response = await next()
      if (response.text !== '')
        displayedTexts.set(ctx.metadata, appendDisplayed(displayed, { text: response.text, isClean: mustClean }))
      rememberCallLabels(ctx, response, addLabels(ctx, labelsOfMessage(response.message, plan), known))
      if (changedKinds.size === 0) return response
      emitFlowEvent(ctx, { action: 'remove', ...labelsInside })
      response.message = dropMetadata(response.message, changedKinds)
      return response
    },
    async tool(ctx, next) {
      const declared = ctx.tool.flow ?? unknownFlow
      const labels = callLabels.get(ctx.metadata)?.get(ctx.callId) ?? labelsOfCall(ctx)
      const sink = await sinkOfCall(ctx, declared, labels)
      if (sink !== undefined) {
        const denial = denyUnlessApproved(ctx, sink, labels)
        if (denial !== undefined) return denial
      }
      const result = await next()
      return result.status === 'suspended' ? result : labelResult(ctx, declared, result)
    },
  })
  return withState<FlowStateRecord<Name>>(layer)

  function initLabels(ctx: TurnContext<Record<string, Labels | null>>): void {
    const { history } = ctx
    const labels = ctx.state[key] ?? null
    const [first] = history
    const isUnlabelled =
      labels === null
        ? first !== undefined
        : first !== undefined && knownLabels.has(labels) && isReplacedHistory(history)
    const initial: Labels = isUnlabelled && unlabelled === 'untrusted' ? { untrusted: { kind: 'history' } } : {}
    if (labels === null || hasNewLabels(labels, initial)) ctx.state[key] = initial
    rememberHistory(ctx)
  }

  /** Whether the history that the labels belong to was replaced, or answers were added that no run produced. */
  function isReplacedHistory(history: readonly Readonly<Message>[]): boolean {
    const length = historyLengths.get(history[0] as object)
    return length === undefined || history.slice(length).some(({ role }) => role === 'assistant')
  }

  function rememberHistory(ctx: TurnContext<Record<string, Labels | null>>): void {
    const [labels, first] = [ctx.state[key], ctx.history[0]]
    if (labels != null) knownLabels.add(labels)
    if (first !== undefined) historyLengths.set(first, ctx.history.length)
  }

  /** The principal's own text needs no label. Answers, results and files in the input may come from anyone. */
  function labelInput(ctx: StateContext, { role, content }: Message): void {
    if (role === 'assistant' || role === 'tool') addLabels(ctx, { untrusted: { kind: 'input' } })
    else if (typeof content !== 'string' && content.some(isAttachment))
      addLabels(ctx, { untrusted: { kind: 'attachment' } })
  }

  /** Adds labels to the session's known labels. Returns all labels, or all except those known before. */
  function addLabels(ctx: StateContext, added: Labels, before: Labels = ctx.state[key] ?? {}): Labels {
    const known = ctx.state[key]
    if (known == null || hasNewLabels(known, added)) ctx.state[key] = added
    return hasNewLabels(before, added) ? mergeLabels(before, added) : before
  }

  function labelsOfCall(ctx: ToolContext<Record<string, Labels | null>>): Labels {
    return addLabels(ctx, scanner.labelsOf(ctx.messages, ctx.plan))
  }

  function listedToolsOf({ tools, flowOf }: TurnPlan): ListedTools {
    const known = listedTools.get(tools)
    if (known !== undefined) return known
    const toolNames = tools.map(({ name }) => name)
    const entry = {
      listed: toolNames.filter((name) => flowOf(name)?.changed !== undefined),
    }
    listedTools.set(tools, entry)
    return entry
  }

  /** A call to a model with provider-run tools may bring in their content, and may send out the text that was there before. */
  function labelsWithProviderTools(
    ctx: ModelContext<Record<string, Labels | null>>,
    plan: TurnPlan,
    before: Labels,
  ): Labels {
    const providerTools = ctx.request.tools.filter((def) => isProviderTool(def, plan))
    if (providerTools.length === 0) return before
    const labelsInside = providerTools.reduce(
      (labels, { name }) =>
        mergeLabels(labels, toLabels(plan.flowOf(name) ?? unknownFlow, { kind: 'tool', tool: name })),
      before,
    )
    for (const { name } of providerTools) {
      if (sinkOf(plan.flowOf(name) ?? unknownFlow, labelsInside) === undefined) continue
      ctx.removeTools(name)
      const { toolChoice } = ctx
      if (typeof toolChoice === 'object' && toolChoice.name === name) ctx.toolChoice = 'auto'
      emitFlowEvent(ctx, { action: 'hide', tool: name, ...labelsInside })
    }
    return labelsInside
  }

  function rememberCallLabels(ctx: ModelContext, { toolCalls }: ModelResponse, labels: Labels): void {
    if (toolCalls.length === 0) return
    const known = callLabels.get(ctx.metadata) ?? new Map<string, Labels>()
    callLabels.set(ctx.metadata, known)
    for (const { callId } of toolCalls) known.set(callId, mergeLabels(known.get(callId) ?? {}, labels))
  }

  /** Returns the sink that needs approval. Sending only to the principal needs none. */
  async function sinkOfCall(ctx: ToolContext, declared: typeof unknownFlow, labels: Labels): Promise<Sink | undefined> {
    const sink = sinkOf(declared, labels)
    if (sink?.sends !== true || !(await reachesOnlyPrincipal(ctx, own))) return sink
    return sink.writes ? { sends: false, writes: true } : undefined
  }

  /** Returns the result of a call that does not run; undefined when a person has approved the request made by this layer. */
  function denyUnlessApproved(ctx: ToolContext, sink: Sink, labels: Labels): ToolResult | undefined {
    const { name } = ctx.tool
    if (ctx.invalid !== undefined)
      return ctx.skipCall({ content: ctx.invalid.map(({ message }) => message).join('\n'), isError: true, flow: {} })
    const approval = ctx.approvalRequest?.by === as ? ctx.approval : undefined
    if (approval !== undefined) {
      if ('deny' in approval) return ctx.deny(approval.deny)
      if ('args' in approval) {
        const { args } = approval
        ctx.modifyArgs(() => args)
      }
      return undefined
    }
    emitFlowEvent(ctx, { action: onSink, tool: name, callId: ctx.callId, ...labels })
    const effects = sink.sends ? (sink.writes ? 'send and write' : 'send') : 'write'
    const reason = `The tool "${name}" would ${effects} while the conversation holds ${describeLabels(labels)}, which may have asked for this.`
    if (onSink === 'deny') return ctx.deny(reason)
    return ctx.suspend({ reason, sources: { ...labels }, ...(expiresIn !== undefined && { expiresIn }) })
  }

  async function labelResult(
    ctx: ToolContext<Record<string, Labels | null>>,
    declared: FlowLabels,
    result: ToolResult,
  ): Promise<ToolResult> {
    if (result.status === 'denied') return result
    // The call was refused before any tool ran, so its result only describes the model's own output.
    if (ctx.invalid !== undefined && result.status === 'error') return { ...result, flow: result.flow ?? {} }
    const { name } = ctx.tool
    const toolFlow = ctx.plan.flowOf(name)
    const isHandoff = toolFlow !== undefined && toolFlow !== ctx.tool.flow
    // Content from an agent that really ran was labeled where it entered.
    const flow = mergeFlow(isHandoff && result.status === 'skipped' ? toolFlow : declared, result.flow)
    const schema = Object.hasOwn(quarantine, name) ? quarantine[name] : undefined
    if (schema !== undefined && readInQuarantine !== undefined && flow.untrusted === true) {
      const sanitized = await readInQuarantine(ctx, { ...result, flow }, schema)
      addLabels(ctx, toLabels(sanitized.flow ?? {}, { kind: 'tool', tool: name, callId: ctx.callId }))
      return sanitized
    }
    addLabels(ctx, toLabels(flow, { kind: 'tool', tool: name, callId: ctx.callId }))
    return isHandoff || result.flow !== undefined ? { ...result, flow } : result
  }

  /** Returns why an agent may not have this tool: the layer could not guarantee anything about it. */
  function rejectReason({ name, flow: declared, execute, providerExecuted }: AnyTool): string | undefined {
    if (declared === undefined)
      return `it declares no flow. Add flow: { untrusted?, private?, sends?, writes? } to "${name}", or flow: {} if none of these apply.`
    if (execute !== undefined || providerExecuted === undefined) return undefined
    const source: FlowSource = { kind: 'tool', tool: name }
    return sinkOf(declared, toLabels(declared, source)) === undefined
      ? undefined
      : 'the provider runs it without asking, so one call could leak what another brought in. Remove it, or give it an execute function.'
  }

  function emitFlowEvent(ctx: TurnContext, event: Omit<FlowEvent, 'type' | 'layer'>): void {
    ctx.emit({ type: 'guard:flow', layer: as, ...event })
  }
}

/** Whether the provider runs a tool, including unknown tools that a layer added or renamed. */
function isProviderTool({ name, providerExecuted }: ToolDef, plan: TurnPlan): boolean {
  return providerExecuted !== undefined && (plan.runsAtProvider(name) || !plan.tools.some((def) => def.name === name))
}

function answerFormat({ request }: ModelContext, { answerTool }: TurnPlan): AnswerFormat {
  return { answerTool, isJson: request.responseFormat.type === 'json' }
}

/** The tools of an agent whose listing may change. */
interface ListedTools {
  readonly listed: readonly string[]
}

type StateContext = { state: Record<string, Labels | null> }

function mergeFlow(first: FlowLabels, added: FlowLabels = {}): FlowLabels {
  const [untrusted, secret] = [
    first.untrusted === true || added.untrusted === true,
    first.private === true || added.private === true,
  ]
  return { ...(untrusted && { untrusted }), ...(secret && { private: secret }) }
}

/** Labels tools whose server now describes them differently from the listing that the app approved. */
function listingLabels({ listed }: ListedTools, { flowOf }: TurnPlan): Labels {
  for (const name of listed)
    if (flowOf(name)?.changed?.() === true) return { untrusted: { kind: 'listing', tool: name } }
  return {}
}

declare module '@allium/core' {
  interface AgentEvents {
    'guard:flow': FlowEvent
  }
}
