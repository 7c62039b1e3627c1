import { defineMiddleware, layerOptions, type ModelRef, option, type TypedMiddleware, withState } from '@allium/core'
import { dropMetadata } from '../text/map-message.ts'
import { emitFlowEvent } from './flow-event.ts'
import { LabelBook, type LabelState } from './label-book.ts'
import { labelResult } from './label-result.ts'
import { LabelScanner, labelsOfMessage } from './label-scanner.ts'
import { type Labels, mergeLabels } from './labels.ts'
import { answerFormat, linkFilter } from './link-filter.ts'
import { hostFilter } from './links.ts'
import { hideProviderSinks, rejectReason } from './provider-tools.ts'
import { createQuarantine, type Quarantine } from './quarantine.ts'
import { denyUnlessApproved } from './sink-approval.ts'
import type { ResolveAddresses } from './sinks.ts'
import { appendDisplayed } from './text-stream.ts'

export type { FlowEvent } from './flow-event.ts'
export type { FlowSource, Labels as FlowState } from './labels.ts'

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
  const readInQuarantine = createQuarantine(as, quarantine, reader)
  const isAllowedHost = hostFilter(links)
  const scanner = new LabelScanner()
  const key = `${as}:labels`
  const book = new LabelBook(key, unlabelled === 'trusted')

  const layer = defineMiddleware<LabelState>({
    name: as,
    order: { is: ['authorizes', 'asks'] },
    innermost: true,
    inherit: true,
    admits: rejectReason,
    state: { [key]: { default: null, reducer: (known, added) => mergeLabels(known ?? {}, added ?? {}) } },
    turn(ctx, next) {
      book.open(ctx)
      ctx.onInput((message, about) => book.addInput(about.ctx as typeof ctx, message))
      ctx.onEnd(() => book.rememberHistory(ctx))
      return next()
    },
    async model(ctx, next) {
      const { plan } = ctx
      const turn = book.turnOf(ctx)
      const found = scanner.labelsOf(ctx.request.messages, plan)
      const known = book.add(ctx, mergeLabels(found, scanner.labelsOfListings(plan)))
      const labels = hideProviderSinks(as, ctx, known)
      const { displayed } = turn
      const isClean = labels.untrusted !== undefined && labels.private !== undefined
      const changedKinds = new Set<string>()
      if (isClean) ctx.pipe(linkFilter(isAllowedHost, answerFormat(ctx, displayed), (kind) => changedKinds.add(kind)))
      const response = await next()
      if (response.text !== '') turn.displayed = appendDisplayed(displayed, { text: response.text, isClean })
      turn.addCalls(response, book.add(ctx, labelsOfMessage(response.message, plan), known))
      if (changedKinds.size === 0) return response
      emitFlowEvent(ctx, { layer: as, action: 'remove', ...labels })
      response.message = dropMetadata(response.message, changedKinds)
      return response
    },
    async tool(ctx, next) {
      const labels = book.turnOf(ctx).ofCall(ctx.callId) ?? book.add(ctx, scanner.labelsOf(ctx.messages, ctx.plan))
      const denial = await denyUnlessApproved(ctx, labels, { layer: as, onSink, own, expiresIn })
      if (denial !== undefined) return denial
      const result = await next()
      return result.status === 'suspended' ? result : labelResult(ctx, result, book, readInQuarantine)
    },
  })
  return withState<FlowStateRecord<Name>>(layer)
}
