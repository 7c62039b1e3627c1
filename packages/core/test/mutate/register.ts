import { register } from 'node:module'

register('./loader.ts', import.meta.url)
