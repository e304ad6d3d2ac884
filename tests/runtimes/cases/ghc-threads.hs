-- SPDX-License-Identifier: Apache-2.0
-- Haskell: threads of the runtime on four threads of the system, time-outs, an MVar that they fight for.
-- : varies
-- : long
import Control.Concurrent
import Control.Concurrent.MVar
import Control.Exception
import Control.Monad
import Data.IORef
import System.CPUTime
import System.IO
import System.Mem
import System.Process
import System.Timeout
import Data.Time.Clock.POSIX

fib :: Int -> Integer
fib n = if n < 2 then toInteger n else fib (n - 1) + fib (n - 2)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  setNumCapabilities 4
  start <- getPOSIXTime
  print start
  out <- newMVar ()
  done <- forM [1 .. 6 :: Int] $ \n -> do
    end <- newEmptyMVar
    _ <- forkIO $ do
      threadDelay (100000 * (7 - n))
      now <- getPOSIXTime
      withMVar out $ \_ -> putStrLn ("thread " ++ show n ++ " " ++ show (fib (15 + n)) ++ " " ++ show now)
      putMVar end ()
    return end
  mapM_ takeMVar done
  order <- newMVar []
  ends <- forM [1 .. 4 :: Int] $ \n -> do
    end <- newEmptyMVar
    _ <- forkOS $ do
      forM_ [1 .. 20 :: Int] $ \_ -> do
        modifyMVar_ order (return . (n :))
        yield
      putMVar end ()
    return end
  mapM_ takeMVar ends
  readMVar order >>= print
  gone <- timeout 1500000 (threadDelay 10000000)
  now <- getPOSIXTime
  print (gone, now - start)
  killed <- newEmptyMVar
  victim <- forkIO (threadDelay 100000000 `catch` \e -> putMVar killed (show (e :: AsyncException)))
  threadDelay 1000
  killThread victim
  takeMVar killed >>= putStrLn
  readProcess "sh" ["-c", "echo $$; date +%s.%N"] "" >>= putStr
  performGC
  stuck <- newEmptyMVar :: IO (MVar ())
  caught <- try (takeMVar stuck) :: IO (Either BlockedIndefinitelyOnMVar ())
  print caught
