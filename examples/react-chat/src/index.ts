import { serve } from '@allium/server/node'
import { createApp } from './app.ts'

const { url } = await serve(await createApp(), { port: Number(process.env.PORT ?? 3000) })
console.log(`Open ${url}`)
