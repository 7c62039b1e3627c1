import { memoryStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { serve } from '../../src/node.ts'
import { fillImages, fillTurns } from './fill.ts'
import { serverOf } from './server.ts'

// A server in a process of its own, with a session of many turns and one of many images.
const [, , kind = '', path = '', turns = '', images = '', inspect = ''] = process.argv
const sessions = kind === 'sqlite' ? sqlite(path, { synchronous: 'normal' }).sessions : memoryStore()
await fillTurns(sessions, 'turns', Number(turns))
await fillImages(sessions, 'images', Number(images))
const { url } = await serve(serverOf(sessions, { inspect: inspect === 'true' }), { port: 0, signals: false })
process.send?.({ url })
