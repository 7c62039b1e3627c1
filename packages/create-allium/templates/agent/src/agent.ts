import { Agent, defineTool, type Model } from 'allium'
import * as guard from 'allium/guard'
import * as models from 'allium/model'
import * as observe from 'allium/observe'
import { z } from 'zod'

/** A tool. Allium validates the arguments with the schema before `execute` runs. */
const timeIn = defineTool({
  name: 'time_in',
  description: 'Returns the current time in a time zone, such as Europe/Oslo.',
  schema: z.object({ zone: z.string().refine(isTimeZone, 'There is no such time zone.') }),
  execute: ({ zone }) => ({ zone, time: new Date().toLocaleTimeString('en-GB', { timeZone: zone }) }),
})

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    return false
  }
}

/** The agent. Layers run from the first (outermost) to the last (innermost). `print` shows tool calls. */
export function createAgent(model: Model | string, print: (line: string) => void = console.log) {
  return new Agent({
    model,
    instructions: 'You answer briefly. Look up times with the tool.',
    tools: [timeIn],
  })
    .use(models.retry({ attempts: 3 }))
    .use(guard.budget({ limit: 0.5, per: 'session' })) // USD
    .use(observe.usage())
    .use('tool', async (ctx, next) => {
      const result = await next() // your own layer: this one prints each tool call
      print(`[${ctx.tool.name} ${JSON.stringify(ctx.args)}: ${result.status}]`)
      return result
    })
}
