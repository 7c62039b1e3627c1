import type { Message, Part, ToolResultPart, TurnPlan } from '@allium/core'
import { adds, type Labels, labelled, union } from './labels.ts'

type Frozen = Readonly<Message>
const nothing: Labels = {}

/**
 * Finds the labels of what a model is sent: results of tools by what these declare, attachments. It goes by the messages and
 * not by the calls, so that it does not matter which layer gave a result, or when.
 */
export class Scanner {
  /** Messages cannot change any more; what their tools declare belongs to one list of tools. */
  readonly #known = new WeakMap<readonly unknown[], WeakMap<Frozen, Labels>>()

  labelsOf(messages: readonly Frozen[], plan: TurnPlan): Labels {
    let known = this.#known.get(plan.tools)
    if (known === undefined) this.#known.set(plan.tools, (known = new WeakMap()))
    let labels = nothing
    for (const message of messages) {
      if (typeof message.content === 'string') continue
      let own = Object.isFrozen(message) ? known.get(message) : undefined
      if (own === undefined) known.set(message, (own = inMessage(message, plan)))
      if (adds(labels, own)) labels = union(labels, own)
    }
    return labels
  }
}

/** Of a message that is nobody's but the model's: what the provider brought into it. */
export function inMessage({ role, content }: Frozen, plan: TurnPlan): Labels {
  if (typeof content === 'string') return nothing
  let labels = nothing
  for (const part of content) labels = union(labels, inPart(part, role, plan))
  return labels
}

export function isAttachment({ type }: Part): boolean {
  return type === 'file' || type === 'image'
}

function inPart(part: Part, role: Message['role'], plan: TurnPlan): Labels {
  if (part.type === 'tool-result') return inResult(part, plan)
  return role === 'user' && isAttachment(part) ? { untrusted: { kind: 'attachment' } } : nothing
}

/** Results that the framework writes for calls that did not run, or were cut. */
const fixed: ReadonlySet<unknown> = new Set(['Cancelled.', 'Interrupted.', 'Not approved.', 'Denied.'])

/** What a layer said of a result counts; else what its tool says of all. A tool that nobody knows may bring anything. */
function inResult({ name, callId, flow, missing, content, isError }: ToolResultPart, plan: TurnPlan): Labels {
  if (missing === true || name === plan.answerTool || (isError === true && fixed.has(content))) return nothing
  return labelled(flow ?? plan.flowOf(name) ?? { untrusted: true }, { kind: 'tool', tool: name, callId })
}
