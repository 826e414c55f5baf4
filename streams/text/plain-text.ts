/** Control characters: C0, DEL and C1. Keys of the store end their texts with a 00 byte, and ids and keys stand in logs and URLs. */
export const controls = /[\u0000-\u001f\u007f-\u009f]/

/** In words. A lone surrogate, half of a character, would become another character on its way into the log. */
export const validText = 'text that is valid Unicode, without lone surrogates'
