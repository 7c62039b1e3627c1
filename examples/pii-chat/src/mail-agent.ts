import { Agent, defineTool, guard, type ModelRef, observe } from 'allium'
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

/** Writes mails for people whose addresses the model never sees, and which are in none of its three records. */
export function createMailAgent(model: ModelRef, { logger, sink, tracer }: Records, tool: ReturnType<typeof sendMail>) {
  return (
    new Agent({ name: 'mail', model, tools: [tool] })
      // First: it stands right around model and tool, and of two such layers the one registered first is outside.
      .use(trace({ tracer, content: true }))
      // Outside of all that keeps what is said: these get placeholders, though `content` tells them to keep all.
      .use(guard.pii({ types: ['email', 'phone', 'card'], restore: ['send_mail'] }))
      .use(observe.log({ logger, content: true }))
      .use(observe.audit({ sink, content: true }))
  )
}
