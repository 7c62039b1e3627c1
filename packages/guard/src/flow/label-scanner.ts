import type { Message, Part, ToolResultPart } from '@allium/core'
import type { TurnPlan } from '@allium/core/internal'
import { hasNewLabels, type Labels, mergeLabels, toLabels } from './labels.ts'

type FrozenMessage = Readonly<Message>
const noLabels: Labels = {}

/** What the scanner keeps of one list of tools. */
interface ToolList {
  /** The tools whose server may come to describe them differently. */
  readonly listed: readonly string[]
  /** The labels of immutable messages, by the declarations of these tools. */
  readonly labels: WeakMap<FrozenMessage, Labels>
}

/**
 * Finds the labels of a model's input: tool results according to their tools' declarations, attachments, and changed listings of
 * tools. It reads the messages instead of the calls, so it does not matter which layer produced a result, or when.
 */
export class LabelScanner {
  readonly #toolLists = new WeakMap<TurnPlan['tools'], ToolList>()

  labelsOf(messages: readonly FrozenMessage[], plan: TurnPlan): Labels {
    const { labels: cache } = this.#toolListOf(plan)
    let labels = noLabels
    for (const message of messages) {
      if (typeof message.content === 'string' && message.flow === undefined) continue
      let messageLabels = Object.isFrozen(message) ? cache.get(message) : undefined
      if (messageLabels === undefined) cache.set(message, (messageLabels = labelsOfMessage(message, plan)))
      if (hasNewLabels(labels, messageLabels)) labels = mergeLabels(labels, messageLabels)
    }
    return labels
  }

  /** Labels tools whose server now describes them differently from the listing that the app approved. */
  labelsOfListings(plan: TurnPlan): Labels {
    for (const name of this.#toolListOf(plan).listed)
      if (plan.flowOf(name)?.changed?.() === true) return { untrusted: { kind: 'listing', tool: name } }
    return noLabels
  }

  #toolListOf({ tools, flowOf }: TurnPlan): ToolList {
    let list = this.#toolLists.get(tools)
    if (list === undefined) {
      const listed = tools.map(({ name }) => name).filter((name) => flowOf(name)?.changed !== undefined)
      this.#toolLists.set(tools, (list = { listed, labels: new WeakMap() }))
    }
    return list
  }
}

/** Returns the labels of a message: its own, and those of its parts. The model's have those of content that the provider added. */
export function labelsOfMessage({ role, content, flow }: FrozenMessage, plan: TurnPlan): Labels {
  let labels = flow === undefined ? noLabels : toLabels(flow, { kind: 'message' })
  if (typeof content === 'string') return labels
  for (const part of content) labels = mergeLabels(labels, labelsOfPart(part, role, plan))
  return labels
}

export function isAttachment({ type }: Part): boolean {
  return type === 'file' || type === 'image'
}

function labelsOfPart(part: Part, role: Message['role'], plan: TurnPlan): Labels {
  if (part.type === 'tool-result') return labelsOfResult(part, plan)
  return role === 'user' && isAttachment(part) ? { untrusted: { kind: 'attachment' } } : noLabels
}

/** Results that the framework writes for calls that did not run or were interrupted. */
const frameworkResults: ReadonlySet<unknown> = new Set(['Cancelled.', 'Interrupted.', 'Not approved.', 'Denied.'])

/** A label set by a layer overrides the tool's declaration. An unknown tool may bring in anything. */
function labelsOfResult({ name, callId, flow, missing, content, isError }: ToolResultPart, plan: TurnPlan): Labels {
  if (missing === true || name === plan.answerTool || (isError === true && frameworkResults.has(content)))
    return noLabels
  return toLabels(flow ?? plan.flowOf(name) ?? { untrusted: true }, { kind: 'tool', tool: name, callId })
}
