import type { Message, ModelContext, ModelResponse, NextFor, TurnContext } from '@allium/core'
import { isResumed } from '@allium/core/context'
import { addBeforeInput, noteOf, questionOf } from './recall-note.ts'
import type { ResolvedRecallOptions } from './recall-options.ts'
import type { Recaller } from './recaller.ts'

interface Layer {
  readonly options: ResolvedRecallOptions
  readonly recaller: Recaller
  readonly turn: TurnContext | undefined
}

/** The layers that have recalled something with an embedding model, by the metadata of the turn. */
const asked = new WeakMap<object, Set<Recaller>>()

/** Adds a note of what fits the input to a model call. It is made once a turn. */
export async function recallOnce(
  ctx: ModelContext,
  next: NextFor<ModelResponse>,
  { options: { as, embed }, recaller, turn }: Layer,
): Promise<void> {
  const { messages } = ctx.request
  const find = (by?: NextFor<ModelResponse>) => recaller.recall(questionOf(ctx, messages), ctx, messages, by)
  // A model call is a step of its own, so it cannot be inside of another one.
  const found = embed !== undefined && !isResumed(ctx) && isFirst(ctx, recaller) ? await find(next) : undefined
  const note = await turn?.once(`${as}:note`, async (): Promise<Message | null> => {
    const { text, flow } = found ?? (await find())
    return text === '' ? null : noteOf(text, flow)
  })
  if (note != null) ctx.messages = addBeforeInput(note, ctx.plan.input, ctx.messages)
}

function isFirst({ metadata }: ModelContext, recaller: Recaller): boolean {
  const recallers = asked.get(metadata) ?? new Set()
  asked.set(metadata, recallers)
  return recallers.size < recallers.add(recaller).size
}
