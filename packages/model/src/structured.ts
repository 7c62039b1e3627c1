import {
  AlliumError,
  defineMiddleware,
  layerOptions,
  type Message,
  type ModelContext,
  type ModelResponse,
  misconfigured,
  option,
  type TypedMiddleware,
} from '@allium/core'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Envelope, findIssues, needsEnvelope } from './answer-issues.ts'

export interface StructuredOptions {
  /** The schema of an answer: any Standard Schema, such as the one of the run's `output`. */
  schema: StandardSchemaV1
  /** The JSON Schema that the run's `output` has beside this schema. @default the one that the schema returns */
  jsonSchema?: object | undefined
  /** Whether the schema receives the parsed JSON of the answer or its text. @default 'json' */
  format?: 'json' | 'text' | undefined
  /** The number of answers, including the first. @default 3 */
  attempts?: number | undefined
  /**
   * When readers see an answer: while it streams, and a wrong one is retracted with `model:reset`; or after it passed the check, which a
   * run with `onRetryAfterOutput: 'fail'` always uses. @default 'early'
   */
  show?: 'early' | 'checked' | undefined
  /** Returns the message to the model about a wrong answer. @default names the issues and asks for the whole answer again */
  ask?(issues: readonly string[], response: ModelResponse): string
  /** The layer's name. @default 'model:structured' */
  as?: string | undefined
}

const readOptions = layerOptions<StructuredOptions>('model:structured', {
  schema: option.required(option.any, 'a Standard Schema, such as one of zod'),
  jsonSchema: option.object,
  format: option.oneOf('json', 'text'),
  attempts: option.whole(1),
  show: option.oneOf('early', 'checked'),
  ask: option.fn,
})

/**
 * Asks the model again if its answer does not match a schema, and includes the issues.
 *
 * Only final answers, without tool calls, are checked. A wrong answer is retracted: stream, response and history contain only the last
 * one, while usage counts all. Use it together with the run option `output`, which requests the format and types the result; this layer
 * repairs the answer. Each repair emits a `model:structured` event.
 *
 * @throws AlliumError `output.invalid` with the issues and the text after the last try; `layer.config` for a number of attempts below 1
 * @example
 * const { output } = await agent.run('Plan a trip', { output: trip, use: [model.structured({ schema: trip })] })
 */
export function structured(options: StructuredOptions): TypedMiddleware<{}> {
  const {
    schema,
    jsonSchema,
    format = 'json',
    attempts = 3,
    show = 'early',
    ask = format === 'json' ? jsonRepairPrompt : textRepairPrompt,
    as = 'model:structured',
  } = readOptions(options)
  if (typeof schema?.['~standard']?.validate !== 'function')
    throw misconfigured(as, 'needs a Standard Schema, such as one of zod.')
  const isEnveloped = needsEnvelope(schema, jsonSchema)

  return defineMiddleware({
    name: as,
    order: { is: ['repairs'], outside: ['meters'] },
    reenters: true,
    async model(ctx, next) {
      if (show === 'checked' || ctx.plan.onRetryAfterOutput === 'fail') ctx.hold()
      const { messages } = ctx.request
      const envelope = isEnveloped === false ? 'never' : isEnveloped ? envelopeOf(ctx) : 'perhaps'
      for (let attempt = 1; ; attempt++) {
        const response = await next()
        if (isIncomplete(response)) return response
        const issues = await findIssues(response, schema, format === 'text' ? format : { envelope })
        if (issues === undefined) return response
        const issueTexts = issues.map(issueText)
        if (attempt >= attempts) throw invalidAnswerError(as, attempts, response, issues, issueTexts)
        ctx.emit({ type: 'model:structured', attempt, issues: issueTexts })
        const previousAnswer = response.text === '' ? [] : [response.message]
        ctx.messages = [
          ...messages,
          ...previousAnswer,
          { role: 'user', content: ask(issueTexts, response) } satisfies Message,
        ]
      }
    },
  })
}

/** The strategy `final` requests its format further in, so that request is not visible here. */
function envelopeOf({ request, plan }: ModelContext): Envelope {
  return request.responseFormat.type === 'json' || plan.answerTool !== undefined ? 'always' : 'perhaps'
}

/** The answer calls tools or was paused, so another answer follows. Calls that the provider ran itself are part of an answer. */
function isIncomplete({ toolCalls, paused }: ModelResponse): boolean {
  return paused === true || toolCalls.some(({ providerExecuted }) => providerExecuted !== true)
}

function jsonRepairPrompt(issues: readonly string[]): string {
  return `Your answer does not fit what was asked for: ${issues.join('; ')}. Give the whole answer again, corrected, as JSON and nothing else.`
}

function textRepairPrompt(issues: readonly string[]): string {
  return `Your answer does not fit what was asked for: ${issues.join('; ')}. Give the whole answer again, corrected.`
}

/** Returns an issue with its path, for the model and for events. */
function issueText({ message, path = [] }: StandardSchemaV1.Issue): string {
  const issuePath = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.')
  return issuePath === '' ? message : `${issuePath}: ${message}`
}

function invalidAnswerError(
  as: string,
  attempts: number,
  { text }: ModelResponse,
  issues: readonly StandardSchemaV1.Issue[],
  issueTexts: readonly string[],
): AlliumError {
  const summary = attempts === 1 ? 'The answer does not fit' : `None of ${attempts} answers fits`
  const message = `${summary} the schema of "${as}": ${issueTexts.join('; ')}. Try a stronger model, or a simpler schema.`
  return new AlliumError('output.invalid', message, { details: { issues, text, attempts } })
}

/** An answer did not match the schema, and the model is called again. */
export interface ModelStructured {
  type: 'model:structured'
  /** The try that failed, from 1. */
  attempt: number
  issues: readonly string[]
}

declare module '@allium/core' {
  interface AgentEvents {
    'model:structured': ModelStructured
  }
}
