import { anthropic, google, googleTools, interactions, responses, xai } from '../packages.ts'
import type { Recording } from '../recording.ts'
import { claude, gemini, interaction, message, response, step, textBlock, typed } from '../wire.ts'

const place = { item_id: 'msg_0', output_index: 0, content_index: 0 }
const annotation = (annotation_index: number, annotation: object) =>
  typed('response.output_text.annotation.added', { ...place, annotation_index, annotation })
const web = { type: 'url_citation', start_index: 0, end_index: 5, url: 'https://a.example', title: 'A' }

/** Where an answer comes from. */
export const recordings: Recording[] = [
  {
    name: 'openai urls and files',
    models: responses(),
    answers: [
      response(
        ...message(
          0,
          'It is a genus.',
          annotation(0, web),
          annotation(1, { type: 'file_citation', file_id: 'file_1', filename: 'a.txt', index: 3 }),
        ),
      ),
    ],
  },
  {
    name: 'xai urls',
    models: { v3: xai().v3!, v4: xai().v4! },
    answers: [response(...message(0, 'It is a genus.', annotation(0, web)))],
  },
  {
    name: 'anthropic web pages',
    models: anthropic(),
    answers: [
      claude('end_turn', [
        textBlock('It is '),
        textBlock('a genus.', {
          type: 'citations_delta',
          citation: {
            type: 'web_search_result_location',
            cited_text: 'A genus.',
            url: 'https://a.example',
            title: 'A',
            encrypted_index: 'i',
          },
        }),
      ]),
    ],
  },
  {
    name: 'google grounding',
    models: google(),
    tools: (version) => ({ google_search: googleTools[version].googleSearch({}) }),
    answers: [
      [
        gemini([{ text: 'It is ' }]),
        gemini([{ text: 'a genus.' }], {
          finishReason: 'STOP',
          groundingMetadata: {
            webSearchQueries: ['allium'],
            groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
            groundingSupports: [{ segment: { startIndex: 0, endIndex: 5, text: 'It is' }, groundingChunkIndices: [0] }],
          },
        }),
      ],
    ],
  },
  {
    name: 'google interactions',
    models: interactions(),
    answers: [
      interaction(
        'completed',
        ...step(
          0,
          { type: 'model_output' },
          { type: 'text', text: 'It is a genus.' },
          {
            type: 'text_annotation',
            annotations: [{ type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 5 }],
          },
        ),
      ),
    ],
  },
]
