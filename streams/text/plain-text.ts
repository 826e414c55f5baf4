/** Control characters: C0, DEL and C1. They are refused because store keys end texts with a 00 byte, and logs and URLs show ids and keys. */
export const controls = /[\u0000-\u001f\u007f-\u009f]/

/** The rule in words. UTF-8 has no lone surrogate (half of a character), so the log would hold another character. */
export const validText = 'text that is valid Unicode, without lone surrogates'
