import {
  type Clock,
  defineMiddleware,
  layerOptions,
  type ModelResponse,
  messageOf,
  option,
  type ToolResult,
  type TypedMiddleware,
  textOf,
} from '@allium/core'
import { resultText } from '@allium/core/internal'
import { ignoreFailure } from './ignore-errors.ts'
import { oneLine } from './one-line.ts'
import { stopwatch } from './stopwatch.ts'
import { watchCall } from './watch-call.ts'

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
  const cut = (text: string) => oneLine(text, maxLength)

  return defineMiddleware({
    name: as,
    order: { is: ['observes'] },
    inherit: true,
    async turn(ctx, next) {
      const turn = `turn ${ctx.turnIndex + 1}`
      print(() => `▶ ${turn}  ${cut(ctx.input.map(textOf).join(' '))}`)
      await printEnd(ctx, next, {
        onResult: (_, ms) => `■ ${turn}  ${ms}  ${cut(ctx.output ?? '(no answer)')}`,
        failed: `✖ ${turn}`,
      })
    },
    model(ctx, next) {
      const call = `model ${oneLine(ctx.model)}`
      return printEnd(ctx, next, {
        onResult: (response, ms) => `  ${call}  ${ms}  ${describeResponse(response, cut)}`,
        failed: `  ✖ ${call}`,
      })
    },
    tool(ctx, next) {
      const call = `tool ${oneLine(ctx.tool.name)}`
      const failed = `  ✖ ${call}`
      print(() => `  ${call}  ${cut(JSON.stringify(ctx.args))}`)
      return printEnd(ctx, next, {
        onResult: (result, ms) =>
          `${result.isError === true ? failed : `  ${call}`}  ${ms}  ${result.status}  ${cut(describeResult(result))}`,
        failed,
      })
    },
  })

  /** Runs next() and prints its outcome. */
  function printEnd<R>({ clock }: { clock: Clock }, next: () => Promise<R>, lines: EndLines<R>): Promise<R> {
    const ms = millisecondsSince(clock)
    return watchCall(next, {
      onResult: (result) => print(() => lines.onResult(result, ms())),
      onError: (error) => print(() => `${lines.failed}  ${ms()}  ${cut(messageOf(error))}`),
    })
  }

  /** An observer must never fail the run, neither synchronously nor later. */
  function print(line: () => string): void {
    ignoreFailure(() => write(line()))
  }
}

/** How the end of a turn or a call is printed. */
interface EndLines<Result> {
  onResult(result: Result, ms: string): string
  /** The beginning of the line for an error. */
  readonly failed: string
}

function millisecondsSince(clock: Clock): () => string {
  const elapsed = stopwatch(clock)
  return () => {
    const ms = elapsed()
    return `${ms === undefined ? '?' : Math.round(ms)} ms`
  }
}

function describeResponse(
  { text, toolCalls, usage, finishReason }: ModelResponse,
  cut: (text: string) => string,
): string {
  const calls = toolCalls.map(({ name }) => name).join(', ')
  const summary = [cut(text), calls && `→ ${cut(calls)}`].filter(Boolean).join('  ')
  return `${usage.inputTokens} in, ${usage.outputTokens} out, ${finishReason}  ${summary}`
}

/** Returns the content for the model, and the error of a failed tool. */
function describeResult({ content, error }: ToolResult): string {
  const text = resultText(content)
  return error === undefined ? text : `${text} (${messageOf(error)})`
}
