import type { Message, Part, ToolResultPart } from '@allium/core'
import type { TurnPlan } from '@allium/core/internal'
import { hasNewLabels, type Labels, mergeLabels, toLabels } from './labels.ts'

type FrozenMessage = Readonly<Message>
const noLabels: Labels = {}

/**
 * Finds the labels of a model's input: tool results according to their tools' declarations, and attachments. It reads the messages
 * instead of the calls, so it does not matter which layer produced a result, or when.
 */
export class LabelScanner {
  /** Messages are immutable; their tools' declarations belong to one list of tools. */
  readonly #cache = new WeakMap<readonly unknown[], WeakMap<FrozenMessage, Labels>>()

  labelsOf(messages: readonly FrozenMessage[], plan: TurnPlan): Labels {
    let cache = this.#cache.get(plan.tools)
    if (cache === undefined) this.#cache.set(plan.tools, (cache = new WeakMap()))
    let labels = noLabels
    for (const message of messages) {
      if (typeof message.content === 'string') continue
      let messageLabels = Object.isFrozen(message) ? cache.get(message) : undefined
      if (messageLabels === undefined) cache.set(message, (messageLabels = labelsOfMessage(message, plan)))
      if (hasNewLabels(labels, messageLabels)) labels = mergeLabels(labels, messageLabels)
    }
    return labels
  }
}

/** Returns the labels of a message that was written by the model: those of content that the provider added. */
export function labelsOfMessage({ role, content }: FrozenMessage, plan: TurnPlan): Labels {
  if (typeof content === 'string') return noLabels
  let labels = noLabels
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
