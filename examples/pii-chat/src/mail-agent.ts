import { Agent, defineTool, type ModelRef } from 'allium'
import * as guard from 'allium/guard'
import * as observe from 'allium/observe'
import { trace } from 'allium/otel'
import { z } from 'zod'
import type { Records } from './records.ts'

/** A tool that needs the real address. */
export function sendMail(send: (mail: { to: string; text: string }) => void) {
  return defineTool({
    name: 'send_mail',
    description: 'Sends a mail.',
    schema: z.object({ to: z.string(), text: z.string() }),
    execute(mail) {
      send(mail)
      return `Sent to ${mail.to}, with a copy for archive@acme.example.`
    },
  })
}

/** An agent that writes emails. The addresses reach neither the model nor the three records. */
export function createMailAgent(model: ModelRef, { logger, sink, tracer }: Records, tool: ReturnType<typeof sendMail>) {
  return (
    new Agent({ name: 'mail', model, tools: [tool] })
      // Registered first, so it is outside of other layers that are next to the model and the tools.
      .use(trace({ tracer, content: true }))
      // These layers record messages. They get placeholders, although `content` makes them record everything.
      .use(guard.pii({ types: ['email', 'phone', 'card'], restore: ['send_mail'] }))
      .use(observe.log({ logger, content: true }))
      .use(observe.audit({ sink, content: true }))
  )
}
