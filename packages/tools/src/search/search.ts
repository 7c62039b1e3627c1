import {
  type AnyTool,
  defineMiddleware,
  type FlowLabels,
  type Message,
  type Middleware,
  type TurnContext,
  toolResult,
} from '@allium/core'
import { type Answers, askSources } from './ask-sources.ts'
import { citationsOf, withCitations } from './citations.ts'
import { hitsText } from './hits-text.ts'
import { resolveSearchOptions, type SearchOptions } from './search-options.ts'

/** The tool has searched. The event has no text. */
export interface ToolsSearch {
  type: 'tools:search'
  layer: string
  /** How many texts each source found, in the order of the option `in`, and the message of its error if it failed. */
  sources: Answers['sources']
  /** The labels of the texts. */
  flow: FlowLabels
}

declare module '@allium/core' {
  interface AgentEvents {
    'tools:search': ToolsSearch
  }
}

/**
 * Gives the model one tool that searches several sources at once: documents, earlier conversations, and functions of the application.
 *
 * The tool returns texts as data, each with the place that it comes from, and with the labels of `guard.flow`. The sources of an answer are
 * sent as `source` chunks, so that a page can show them.
 *
 * @throws AlliumError `layer.config`; `session.principal` at the first run for a principal that a source cannot search for
 * @example
 * agent.use(search({ in: [documents({ store, name: 'handbook' })] }))
 */
export function search(given: SearchOptions): Middleware {
  const { sources, limit, tokens, cite, name, description, as } = resolveSearchOptions(given)
  /** By the metadata of a turn, which is one object in all its scopes. */
  const turns = new WeakMap<object, TurnContext>()
  const requests = new WeakMap<object, readonly Readonly<Message>[]>()
  const tool: AnyTool = {
    name,
    description,
    // The labels depend on what was found.
    flow: {},
    jsonSchema: questionSchema,
    onInterrupted: 'retry',
    async execute({ question }: { question?: unknown }, call) {
      const { metadata, signal } = call
      const turn = turns.get(metadata)
      if (turn === undefined || typeof question !== 'string' || question.trim() === '')
        return toolResult({ content: 'Nothing was searched: give "question", a text.', isError: true })
      const { sessionKey, principal, clock, logger } = turn
      const { tenant, owner } = sessionKey
      const answers = await askSources(question, sources, {
        ...{ tenant, owner, limit, sessionKey, principal, signal, clock, logger, call },
        messages: requests.get(metadata) ?? turn.history,
        find: (capability) => turn.find(capability),
        emit: (event) => turn.emit(event),
      })
      const { text, flow } = hitsText(answers.hits, tokens)
      turn.emit({ type: 'tools:search', layer: as, sources: answers.sources, flow } satisfies ToolsSearch)
      return toolResult({ content: withFailed(text, answers), flow })
    },
  }
  return defineMiddleware({
    name: as,
    options: { in: sources.map((source) => source.name), limit, tokens },
    // Guards must see its sources in the stream.
    order: { inside: ['redacts', 'blocks', 'authorizes'] },
    innermost: true,
    tools: [tool],
    turn(ctx, next) {
      for (const source of sources) source.check?.(ctx)
      turns.set(ctx.metadata, ctx)
      return next()
    },
    model(ctx, next) {
      requests.set(ctx.metadata, ctx.request.messages)
      const cited = cite ? citationsOf(ctx.history, name) : []
      if (cited.length > 0) ctx.pipe((chunks) => withCitations(chunks, cited))
      return next()
    },
  })
}

/** Names the sources that failed, so that the model does not take their silence for an answer. */
function withFailed(text: string, { sources }: Answers): string {
  const failed = sources.filter(({ error }) => error !== undefined).map((source) => JSON.stringify(source.name))
  const note = failed.length === 0 ? '' : `\nNot searched, because of an error: ${failed.join(', ')}.`
  return (text || 'Nothing that fits was found.') + note
}

const questionSchema = {
  type: 'object',
  properties: { question: { type: 'string', minLength: 1, maxLength: 2_000 } },
  required: ['question'],
  additionalProperties: false,
}
