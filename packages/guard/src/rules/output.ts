import {
  type ContentChunk,
  defineMiddleware,
  layerOptions,
  type ModelContext,
  option,
  type TypedMiddleware,
} from '@allium/core'
import { dropMetadata } from '../text/map-message.ts'
import { unsupportedKind } from '../text/unsupported-kind.ts'
import { type FailureOptions, failureOptions, failurePolicy } from './failure-options.ts'
import { runCheck, runLocalCheck } from './run-check.ts'
import { applyVerdict, type Check, replaceFirst } from './verdict.ts'

export interface OutputOptions extends FailureOptions {
  /** Decides whether a text may pass. */
  check: Check
  /** The layer's name. @default 'guard:output' */
  as?: string | undefined
}

const readOptions = layerOptions<OutputOptions>('guard:output', {
  check: option.required(option.fn, 'a function that says of a text whether it may pass'),
  ...failureOptions,
})

/**
 * Checks model answers with a function before they are delivered. The function lets the text through, blocks it, or replaces it.
 *
 * It receives the complete answer of each step, and the complete reasoning. Before that, nothing is delivered and no requested tool
 * runs. To check words and patterns without delaying the stream, use `guard.content`. It fails closed: a check that throws or takes
 * too long blocks the turn.
 *
 * @example
 * agent.use(guard.output((text) => !text.includes(systemPrompt)))
 */
export function output(options: Check | OutputOptions): TypedMiddleware<{}> {
  const {
    check,
    as = 'guard:output',
    ...failure
  } = readOptions(typeof options === 'function' ? { check: options } : options)
  const guard = failurePolicy(as, failure)

  return defineMiddleware({
    name: as,
    order: { is: ['blocks'] },
    inherit: true,
    async model(ctx, next) {
      const changedKinds = new Set<string>()
      ctx.pipe(async function* (stream, end) {
        const chunks: ContentChunk[] = []
        for await (const chunk of stream) chunks.push(chunk)
        if ('error' in (await end())) return // interrupted, so nothing is delivered
        const text = await checkText(ctx, chunks, 'text-delta')
        const reasoning = await checkText(ctx, chunks, 'reasoning-delta')
        if (text !== undefined) changedKinds.add('text')
        if (reasoning !== undefined) changedKinds.add('reasoning')
        yield* replaceTexts(chunks, { 'text-delta': text, 'reasoning-delta': reasoning })
      })
      const response = await next()
      response.message = dropMetadata(response.message, changedKinds)
      return response
    },
  })

  async function checkText(
    ctx: ModelContext,
    chunks: readonly ContentChunk[],
    kind: 'text-delta' | 'reasoning-delta',
  ): Promise<string | undefined> {
    const text = await runLocalCheck(ctx, guard, () => chunks.map((chunk) => textOf(chunk, kind)).join(''))
    if (text === undefined || text === '') return undefined
    const verdict = await runCheck(ctx, guard, (call) => check(text, ctx, call.signal))
    return applyVerdict(ctx, verdict, { layer: as, where: 'output', reply: guard.reply, code: 'guard.output' })
  }
}

function textOf(chunk: ContentChunk, kind: 'text-delta' | 'reasoning-delta'): string {
  switch (chunk.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return chunk.type === kind ? chunk.delta : ''
    case 'tool-input-start':
    case 'tool-input-delta':
    case 'tool-input-end':
    case 'tool-result':
    case 'file':
    case 'source':
    case 'custom':
      return ''
    default:
      return unsupportedKind(chunk, 'chunk')
  }
}

/** Returns the chunks with replaced texts: each replacement takes the place of the first chunk of its kind. */
function* replaceTexts(
  chunks: readonly ContentChunk[],
  texts: Record<'text-delta' | 'reasoning-delta', string | undefined>,
): Generator<ContentChunk> {
  const replacers = {
    'text-delta': replaceFirst(texts['text-delta'] ?? ''),
    'reasoning-delta': replaceFirst(texts['reasoning-delta'] ?? ''),
  }
  for (const chunk of chunks) {
    const isText = chunk.type === 'text-delta' || chunk.type === 'reasoning-delta'
    if (!isText || texts[chunk.type] === undefined) {
      yield chunk
      continue
    }
    const delta = replacers[chunk.type](chunk.delta)
    if (delta !== '') yield { type: chunk.type, delta, ...(chunk.id !== undefined && { id: chunk.id }) }
  }
}
