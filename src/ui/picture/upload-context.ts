import { createContext } from 'preact';

/** The upload beneath which the paths of pictures are; undefined: they are beneath the image folders. */
export const UploadOfPictures = createContext<string | undefined>(undefined);
