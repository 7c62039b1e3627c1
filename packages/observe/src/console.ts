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
  /** Takes each line, without a line break. @default console.log */
  write?(line: string): unknown
  /** Characters of an input, an answer, or a tool's arguments or result that are shown. @default 120 */
  maxLength?: number | undefined
  /** The layer's name. @default 'observe:console' */
  as?: string | undefined
}

const readOptions = layerOptions<ConsoleOptions>('observe:console', {
  write: option.fn,
  maxLength: option.number({ from: 1 }),
})

/**
 * Prints what happens, one line a thing: turns, model calls, tool calls, errors.
 *
 * For development; it shows what users and tools say. Register it first to see what leaves the agent, or inside
 * another layer to see what that layer does. What `write` throws is dropped.
 *
 * @example
 * agent.use(observe.console())
 */
export function consoleLayer(given: ConsoleOptions = {}): TypedMiddleware<{}> {
  const {
    write = (line) => console.log(line),
    maxLength = 120,
    as = 'observe:console',
  }: ConsoleOptions = readOptions(given)
  const show = (text: string) => oneLine(text, maxLength)

  return defineMiddleware({
    name: as,
    order: { is: ['observes'] },
    inherit: true,
    async turn(ctx, next) {
      print(() => `▶ turn #${ctx.turnIndex}  ${show(ctx.input.map(textOf).join(' '))}`)
      await timed(ctx, next, {
        gave: (_, ms) => `■ turn #${ctx.turnIndex}  ${ms}  ${show(ctx.output ?? '(no answer)')}`,
        threw: (why, ms) => `✖ turn #${ctx.turnIndex}  ${ms}  ${why}`,
      })
    },
    model(ctx, next) {
      const call = `model ${oneLine(ctx.model)}`
      return timed(ctx, next, {
        gave: (response, ms) => `  ${call}  ${ms}  ${tell(response)}`,
        threw: (why, ms) => `  ✖ ${call}  ${ms}  ${why}`,
      })
    },
    tool(ctx, next) {
      const call = `tool ${oneLine(ctx.tool.name)}`
      print(() => `  ${call}  ${show(JSON.stringify(ctx.args))}`)
      return timed(ctx, next, {
        gave: (result, ms) =>
          `  ${result.isError === true ? '✖ ' : ''}${call}  ${ms}  ${result.status}  ${show(told(result))}`,
        threw: (why, ms) => `  ✖ ${call}  ${ms}  ${why}`,
      })
    },
  })

  /** Runs next() and prints how it ended. */
  async function timed<R>(
    { clock }: { clock: Clock },
    next: () => Promise<R>,
    lines: { gave(result: R, ms: string): string; threw(why: string, ms: string): string },
  ): Promise<R> {
    const ms = stopwatch(clock)
    try {
      const result = await next()
      print(() => lines.gave(result, ms()))
      return result
    } catch (error) {
      print(() => lines.threw(show(messageOf(error)), ms()))
      throw error
    }
  }

  function tell({ text, toolCalls, usage, finishReason }: ModelResponse): string {
    const calls = toolCalls.map(({ name }) => name).join(', ')
    const said = [text === '' ? '' : show(text), calls === '' ? '' : `→ ${show(calls)}`].filter(Boolean).join('  ')
    return `${usage.inputTokens} in, ${usage.outputTokens} out, ${finishReason}  ${said}`
  }

  /** A watcher must never break what it watches, be it at once or later. */
  function print(line: () => string): void {
    try {
      Promise.resolve(write(line())).catch(() => {})
    } catch {}
  }
}

function stopwatch(time: Clock): () => string {
  try {
    const begun = time.monotonic()
    return () => `${Math.round(time.monotonic() - begun)} ms`
  } catch {
    return () => '? ms'
  }
}

/** What the model gets, and for a failed tool what it threw. */
function told({ content, error }: ToolResult): string {
  const text = textOf({ role: 'tool', content } satisfies Message)
  return error === undefined ? text : `${text} (${messageOf(error)})`
}
