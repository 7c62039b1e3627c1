import type { Middleware } from '@allium/core'

/**
 * Returns a layer that logs when it is entered and left, in all five scopes: `turn outer:in`, `turn outer:out`. Lines of a tool
 * call have its id, as in `tool#call-1`. Two of them around a layer show its order: `expect(log).toUnwind(['outer', 'inner'])`.
 *
 * @example
 * const log: string[] = []
 * agent.use(traceLayer('outer', log)).use(mine).use(traceLayer('inner', log))
 */
export function traceLayer(name: string, log: string[]): Middleware {
  const around = async <T>(where: string, next: () => Promise<T>): Promise<T> => {
    log.push(`${where} ${name}:in`)
    try {
      return await next()
    } finally {
      log.push(`${where} ${name}:out`)
    }
  }
  return {
    name,
    agent: (_, next) => around('agent', next),
    session: (_, next) => around('session', next),
    turn: (_, next) => around('turn', next),
    model: (_, next) => around('model', next),
    tool: (ctx, next) => around(`tool#${ctx.callId}`, next),
  }
}

/**
 * Returns why a log does not show an onion of these layers, outermost first; undefined if it does. In each scope or tool call, a layer
 * is entered only directly inside the previous one, and left in reverse. A layer may be entered again (retries) or not at all (a skip),
 * but each must be entered at least once. Agent and session may still be open. Lines of other layers are ignored, and a line may omit
 * its scope: `outer:in`.
 */
export function unwindingProblem(log: readonly string[], names: readonly string[]): string | undefined {
  const open = new Map<string, string[]>()
  const lines = log.map(parse).filter(({ name }) => names.includes(name))
  for (const { line, place, name, way } of lines) {
    const stack = open.get(place) ?? []
    open.set(place, stack)
    if (way === 'in' && names[stack.length] !== name) return `${line} came ${inside(stack)}`
    if (way === 'out' && stack.at(-1) !== name) return `${line} came ${inside(stack)}`
    if (way === 'in') stack.push(name)
    else stack.pop()
  }
  for (const [place, stack] of open)
    if (stack.length > 0 && place !== 'agent' && place !== 'session')
      return `${place} ${stack.at(-1)} was never left`.trim()
  const never = names.find((name) => !lines.some((line) => line.name === name))
  return never === undefined ? undefined : `${never} was never entered`
}

function inside(stack: readonly string[]): string {
  return stack.length === 0 ? 'inside of none of them' : `inside ${stack.join(' > ')}`
}

function parse(line: string) {
  const [, place = '', name = '', way = ''] = /^(?:(\S+) )?(.+):(in|out)$/.exec(line) ?? []
  return { line, place, name, way }
}
