import {
  type Clock,
  defineMiddleware,
  layerOptions,
  type Message,
  type ModelResponse,
  messageOf,
  option,
  type ToolResult,
  type TypedMiddleware,
  textOf,
} from '@allium/core'
import { oneLine } from './one-line.ts'

export interface ConsoleOptions {
  /** Receives each line, without a line break. @default console.log */
  write?(line: string): unknown
  /** How many characters of an input, an answer, arguments or a result are shown. @default 120 */
  maxLength?: number | undefined
  /** The layer's name. @default 'observe:console' */
  as?: string | undefined
}

const readOptions = layerOptions<ConsoleOptions>('observe:console', {
  write: option.fn,
  maxLength: option.number({ from: 1 }),
})

/**
 * Prints turns, model calls, tool calls and errors, one line each.
 *
 * Use it for development; it prints the text of users and tools. Register it first to see what leaves the agent, or inside another
 * layer to see the effect of that layer. Errors of `write` are ignored.
 *
 * @example
 * agent.use(observe.console())
 */
export function consoleLayer(options: ConsoleOptions = {}): TypedMiddleware<{}> {
  const {
    write = (line) => console.log(line),
    maxLength = 120,
    as = 'observe:console',
  }: ConsoleOptions = readOptions(options)
  const truncate = (text: string) => oneLine(text, maxLength)

  return defineMiddleware({
    name: as,
    order: { is: ['observes'] },
    inherit: true,
    async turn(ctx, next) {
      writeLine(() => `▶ turn ${ctx.turnIndex + 1}  ${truncate(ctx.input.map(textOf).join(' '))}`)
      await logTimed(ctx, next, {
        onResult: (_, ms) => `■ turn ${ctx.turnIndex + 1}  ${ms}  ${truncate(ctx.output ?? '(no answer)')}`,
        onError: (reason, ms) => `✖ turn ${ctx.turnIndex + 1}  ${ms}  ${reason}`,
      })
    },
    model(ctx, next) {
      const call = `model ${oneLine(ctx.model)}`
      return logTimed(ctx, next, {
        onResult: (response, ms) => `  ${call}  ${ms}  ${describeResponse(response)}`,
        onError: (reason, ms) => `  ✖ ${call}  ${ms}  ${reason}`,
      })
    },
    tool(ctx, next) {
      const call = `tool ${oneLine(ctx.tool.name)}`
      writeLine(() => `  ${call}  ${truncate(JSON.stringify(ctx.args))}`)
      return logTimed(ctx, next, {
        onResult: (result, ms) =>
          `  ${result.isError === true ? '✖ ' : ''}${call}  ${ms}  ${result.status}  ${truncate(describeResult(result))}`,
        onError: (reason, ms) => `  ✖ ${call}  ${ms}  ${reason}`,
      })
    },
  })

  /** Runs next() and prints its outcome. */
  async function logTimed<R>(
    { clock }: { clock: Clock },
    next: () => Promise<R>,
    lines: { onResult(result: R, ms: string): string; onError(reason: string, ms: string): string },
  ): Promise<R> {
    const ms = stopwatch(clock)
    try {
      const result = await next()
      writeLine(() => lines.onResult(result, ms()))
      return result
    } catch (error) {
      writeLine(() => lines.onError(truncate(messageOf(error)), ms()))
      throw error
    }
  }

  function describeResponse({ text, toolCalls, usage, finishReason }: ModelResponse): string {
    const calls = toolCalls.map(({ name }) => name).join(', ')
    const summary = [text === '' ? '' : truncate(text), calls === '' ? '' : `→ ${truncate(calls)}`]
      .filter(Boolean)
      .join('  ')
    return `${usage.inputTokens} in, ${usage.outputTokens} out, ${finishReason}  ${summary}`
  }

  /** An observer must never fail the run, neither synchronously nor later. */
  function writeLine(line: () => string): void {
    try {
      Promise.resolve(write(line())).catch(() => {})
    } catch {}
  }
}

function stopwatch(clock: Clock): () => string {
  try {
    const startedAt = clock.monotonic()
    return () => `${Math.round(clock.monotonic() - startedAt)} ms`
  } catch {
    return () => '? ms'
  }
}

/** Returns the content for the model, and the error of a failed tool. */
function describeResult({ content, error }: ToolResult): string {
  const text = textOf({ role: 'tool', content } satisfies Message)
  return error === undefined ? text : `${text} (${messageOf(error)})`
}
