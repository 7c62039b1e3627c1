import { google, interactions, openaiTools, responses } from '../packages.ts'
import type { Recording } from '../recording.ts'
import { gemini, interaction, item, message, response, step } from '../wire.ts'

const png = { mimeType: 'image/png', data: 'iVBORw0KGgo=' }

/** Files that a model makes. */
export const recordings: Recording[] = [
  {
    name: 'google image',
    models: google('gemini-2.5-flash-image'),
    answers: [
      [
        gemini([{ text: 'Here: ' }]),
        gemini([{ inlineData: png }]),
        gemini([{ text: 'Done.' }], { finishReason: 'STOP' }),
      ],
    ],
  },
  {
    name: 'google image among thoughts, with a signature',
    models: google('gemini-3-pro-image-preview'),
    answers: [
      [
        gemini([{ text: 'Hm.', thought: true }]),
        gemini([{ inlineData: png, thought: true, thoughtSignature: 'sig_0' }]),
        gemini([{ inlineData: png, thoughtSignature: 'sig_1' }]),
        gemini([{ text: '' }], { finishReason: 'STOP' }),
      ],
    ],
  },
  {
    name: 'google interactions image',
    models: interactions(),
    answers: [
      interaction(
        'completed',
        ...step(
          0,
          { type: 'model_output' },
          { type: 'text', text: 'Here.' },
          { type: 'image', data: png.data, mime_type: 'image/png' },
        ),
      ),
    ],
  },
  {
    name: 'openai image generation',
    sentTwice: true,
    models: responses(),
    tools: (version) => ({ image_generation: openaiTools[version].imageGeneration({}) }),
    answers: [
      response(
        ...item(
          0,
          { type: 'image_generation_call', id: 'ig_1', status: 'in_progress' },
          { status: 'completed', result: png.data },
          `data: ${JSON.stringify({ type: 'response.image_generation_call.partial_image', item_id: 'ig_1', output_index: 0, partial_image_b64: 'iVBO', partial_image_index: 0 })}\n\n`,
        ),
        ...message(1, 'Done.'),
      ),
    ],
  },
]
