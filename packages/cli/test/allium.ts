import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { main } from '../src/index.ts'

/** Runs a command in the root folder, without an environment. */
export async function allium(...argv: string[]) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  const around = Object.assign(new EventEmitter(), streams, { env: {}, cwd: () => '/' })
  const code = await main(argv, around as unknown as Parameters<typeof main>[1])
  for (const stream of [streams.stdout, streams.stderr]) stream.end()
  return { code, out: await text(streams.stdout), err: await text(streams.stderr) }
}
