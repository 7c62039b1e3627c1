import type { RequestRecord } from '@allium/server/inspect'
import { expect, test } from 'vitest'
import { messagesOf } from '../web/store/request-messages.ts'

const request = (keep: number, ...texts: string[]) =>
  ({ keep, messages: texts.map((content) => ({ role: 'user', content })) }) as unknown as RequestRecord

test('puts the messages of a request together from the records before it', () => {
  const requests = [request(0, 'a', 'b'), request(2, 'c'), request(1, 'x'), request(2, 'y', 'z')]
  const texts = requests.map((_, index) =>
    messagesOf(requests, index)
      .map(({ content }) => content)
      .join(''),
  )
  expect(texts).toEqual(['ab', 'abc', 'ax', 'axyz'])
})
