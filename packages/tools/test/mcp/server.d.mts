import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Tool } from '@modelcontextprotocol/sdk/types.js'

/** The tools beyond the fixed ones, and what is left out; a test changes them. */
export interface Shelf {
  more: Tool[]
  without: string[]
  listed?: number
}

/** @param note is told what happens, for the test */
export function fixtureServer(note: (what: string) => void, shelf?: Shelf, die?: () => void): Server
