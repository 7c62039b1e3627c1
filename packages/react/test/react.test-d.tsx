// Compiled, never run: what a page infers from the agent and its tools, and the mistakes that must not compile.
import { Agent, defineTool } from '@allium/core'
import { createClient } from '@allium/server/client'
import { scriptedModel } from '@allium/testing'
import { z } from 'zod'
import { Message, Thread, useSession } from '../src/index.ts'

const description = 'Does it.'
const tools = [
  defineTool({ name: 'refund', description, schema: z.object({ cents: z.number() }) }),
  defineTool({ name: 'search', description, schema: z.object({ words: z.string() }) }),
]
const agent = new Agent({ model: scriptedModel([]), tools: [tools[0]!, tools[1]!] })
const typed = new Agent({
  model: scriptedModel([]),
  tools: [
    defineTool({ name: 'refund', description, schema: z.object({ cents: z.number() }) }),
    defineTool({ name: 'search', description, schema: z.object({ words: z.string() }) }),
  ],
})
const client = createClient<typeof typed>({ url: '/api' })
const untyped = createClient<typeof agent>({ url: '/api' })

export function Page() {
  const session = useSession({ client, sessionId: 'a' })
  const [call] = session.pending
  // The name of a tool determines its arguments, in pending calls and in messages.
  if (call?.name === 'refund') console.log(call.args.cents.toFixed())
  // @ts-expect-error The tool takes no such argument.
  if (call?.name === 'refund') console.log(call.args.euros)
  // @ts-expect-error The agent has no such tool.
  if (call?.name === 'refunds') console.log(call)
  for (const part of session.messages.flatMap(({ parts }) => parts))
    if (part.type === 'tool' && part.name === 'search') {
      // @ts-expect-error The arguments are undefined while the model writes them.
      console.log(part.args.words)
      console.log(part.args?.words.length)
    }
  // @ts-expect-error A call is needed, not its id.
  session.approve('call-1')
  // @ts-expect-error There is no such status.
  if (session.status === 'ready') return null
  // @ts-expect-error An input is a text or a list of parts.
  session.send({ text: 'Hi' })
  return <Thread session={session} labels={{ send: 'Senden' }} />
}

export function Mistakes() {
  // @ts-expect-error The session is missing.
  useSession({ client })
  // @ts-expect-error The client is missing.
  useSession({ sessionId: 'a' })
  // @ts-expect-error There is no such option.
  useSession({ client, sessionId: 'a', thread: 'b' })
  const session = useSession({ client: untyped, sessionId: 'a' })
  return (
    <Thread session={session}>
      {/* @ts-expect-error A message is an object of `messages`. */}
      <Message message="Hi" />
    </Thread>
  )
}
