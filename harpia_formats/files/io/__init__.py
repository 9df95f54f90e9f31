"""Read and write bytes: files, standard streams, compression, remote stores."""
