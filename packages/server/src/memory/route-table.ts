import { list, object } from '../request/containers.ts'
import { isPrintable, pageQuery } from '../request/fields.ts'
import { route } from '../request/route.ts'
import { anyObject, described, flag, integer, integerText, optional, text } from '../request/schema.ts'

const name = text({
  min: 1,
  max: 256,
  accepts: isPrintable,
  expected: 'a name of 1 to 256 characters, without control characters',
})
const block = described(name, 'The name of the layer that keeps the block, such as `memory:working`.')

/** The routes of what is remembered of the caller. */
export const routes = {
  view: route({
    method: 'get',
    path: '/memory',
    summary: 'See what is remembered of you, and whether memory is on',
    answers: { 200: 'Memory' },
  }),
  switch: route({
    method: 'put',
    path: '/memory/switch',
    summary: 'Switch memory on or off for you',
    body: object({ on: flag() }),
    bodyName: 'memorySwitchBody',
    answers: { 200: 'MemorySwitch' },
  }),
  passages: route({
    method: 'get',
    path: '/memory/passages',
    summary: 'List the messages that can be recalled: by conversation, the last changed first',
    query: pageQuery,
    answers: { 200: 'MemoryPassages' },
  }),
  removeAll: route({
    method: 'delete',
    path: '/memory',
    summary: 'Delete your blocks, and up to 100 of your conversations',
    answers: { 200: 'MemoryDeleted' },
  }),
  edit: route({
    method: 'put',
    path: '/memory/blocks/:block',
    summary: 'Change a block that still has the version that you saw',
    params: { block },
    body: object({
      version: integer(0, Number.MAX_SAFE_INTEGER),
      set: described(optional(anyObject()), 'The fields to write.'),
      remove: described(optional(list(name, { max: 1000 })), 'The names of fields to remove.'),
    }),
    bodyName: 'memoryBlockBody',
    answers: { 200: 'MemoryBlock' },
  }),
  changes: route({
    method: 'get',
    path: '/memory/blocks/:block/changes',
    summary: 'List the last changes of a block, newest first',
    params: { block },
    query: { limit: integerText(1, 100, 20) },
    answers: { 200: 'MemoryChanges' },
  }),
  removeBlock: route({
    method: 'delete',
    path: '/memory/blocks/:block',
    summary: 'Delete a block with all its changes',
    params: { block },
    answers: { 204: null },
  }),
}
