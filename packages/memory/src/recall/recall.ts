import {
  type AnyTool,
  defineMiddleware,
  type Message,
  type Middleware,
  type TurnContext,
  toolResult,
} from '@allium/core'
import { aroundRun } from '@allium/core/context'
import { heldLease } from '@allium/core/internal'
import type { EmbeddingModel } from '../embed/embedding-model.ts'
import { placeholderIn } from './placeholder-args.ts'
import { type RecallOptions, resolveRecallOptions } from './recall-options.ts'
import { recallerOf } from './recalled.ts'
import { late, Recaller } from './recaller.ts'
import { SessionPassages } from './session-passages.ts'

/**
 * Recalls what was said in earlier conversations of the same user with the agent. It needs neither another model nor a vector database: it
 * finds messages by their words.
 *
 * By default the model gets a tool `recall(question)`. With `every: 'turn'` the layer recalls by itself, once a turn, directly before the
 * newest input and outside the history. Nothing is found across tenants or owners. Recalled text keeps the labels of `guard.flow`. Register
 * it inside `memory.persist`, whose store writes the passages together with the turn. With `embed` it creates two layers, and the tokens of the
 * embedding model are charged to the run.
 *
 * @throws AlliumError `layer.config`; `session.principal` at the first run for a principal without tenant or user
 * @example
 * agent.use(memory.persist({ store })).use(memory.recall({ store: store.passages }))
 */
export function recall(given: RecallOptions & { embed: EmbeddingModel }): readonly Middleware[]
export function recall(given?: RecallOptions & { embed?: undefined }): Middleware
export function recall(given: RecallOptions): Middleware | readonly Middleware[]
export function recall(given: RecallOptions = {}): Middleware | readonly Middleware[] {
  const options = resolveRecallOptions(given)
  const { as, every, embed, tool: hasTool, name, description } = options
  const recaller = new Recaller(options)
  /** By the metadata of a turn, which is one object in all its scopes. */
  const turns = new WeakMap<object, TurnContext>()
  const requests = new WeakMap<object, readonly Readonly<Message>[]>()
  const tool: AnyTool = {
    name,
    description,
    // The labels depend on what was found.
    flow: {},
    jsonSchema: questionSchema,
    async execute({ question }: { question?: unknown }, call) {
      const { metadata } = call
      const turn = turns.get(metadata)
      if (turn === undefined || typeof question !== 'string' || question.trim() === '')
        return toolResult({ content: 'Give "question", a text.', isError: true })
      const { text, flow } = await recaller.recall(question, turn, requests.get(metadata) ?? turn.history, call)
      return toolResult({ content: text || (await recaller.whyNothing(turn)), flow })
    },
  }
  const layer = defineMiddleware({
    name: as,
    options: { every: every ?? 'call', limit: options.limit, tokens: options.tokens, language: options.language },
    order: { is: ['shapes'], inside: ['memory:compact', 'memory:truncate'], outside: ['memory:plan'] },
    requires: [heldLease],
    reenters: embed !== undefined,
    tools: hasTool ? [tool] : [],
    session(ctx, next) {
      recaller.checkPrincipal(ctx)
      ctx.provide(recallerOf, recaller)
      const passages = new SessionPassages(ctx, recaller, options.labelsKey)
      aroundRun(ctx, (_, run) => passages.around(run))
      return next()
    },
    turn(ctx, next) {
      turns.set(ctx.metadata, ctx)
      return next()
    },
    async model(ctx, next) {
      requests.set(ctx.metadata, ctx.request.messages)
      if (every === 'turn')
        await (await late()).recallOnce(ctx, next, { options, recaller, turn: turns.get(ctx.metadata) })
      return next()
    },
    tool(ctx, next) {
      const placeholder = placeholderIn(ctx.args, requests.get(ctx.metadata) ?? ctx.history)
      if (placeholder === undefined) return next()
      return ctx.deny(unknownValue(placeholder))
    },
  })
  if (embed === undefined) return layer
  const embedding = defineMiddleware({
    name: `${as}:embed`,
    innermost: true,
    model: async (ctx, next) => (await late()).enterEmbedding(ctx, next),
  })
  return [layer, embedding]
}

function unknownValue(placeholder: string): string {
  return `"${placeholder}" stands for a value of another conversation. Ask the user for it.`
}

const questionSchema = {
  type: 'object',
  properties: { question: { type: 'string', minLength: 1, maxLength: 2_000 } },
  required: ['question'],
  additionalProperties: false,
}
